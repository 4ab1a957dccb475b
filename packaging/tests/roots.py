"""Clean roots: small Debian systems, made once by debootstrap, in which packages are tried.

Each test writes into a layer of its own above the system (overlayfs), so all begin with the same files. Mounts are in a
mount namespace of each command and end with it. Needs root, and network for the first time.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

MIRROR = "http://deb.debian.org/debian"
# What people who compile OpenMP programs have.
COMPILERS = ["g++", "gfortran", "pkg-config", "cmake", "make", "clang", "libomp-dev", "python3-venv"]


def need_root():
    if os.geteuid() != 0:
        raise SystemExit("the packages are tried in roots of their own: run this as root")
    for tool in ("debootstrap", "unshare"):
        if shutil.which(tool) is None:
            raise SystemExit(f"{tool} is missing: tools/setup packages")


def base(folder, suite, packages):
    """The unchanged system; made on the first call. Its name has the packages, so that another list is another system."""
    name = f"{suite}-{hashlib.sha256(' '.join(sorted(packages)).encode()).hexdigest()[:8]}"
    there = folder / name
    if (there / "made").exists():
        return there / "root"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir(parents=True)
    print(f"making a clean root: Debian {suite} with {', '.join(packages) or 'nothing else'}", flush=True)
    with open(there / "log", "wb") as log:
        made = subprocess.run(["debootstrap", "--variant=minbase", *([f"--include={','.join(packages)}"] if packages else []), suite, there / "root", MIRROR],
                              stdout=log, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        raise SystemExit("debootstrap failed:\n" + "".join(open(there / "log", errors="replace").readlines()[-10:]))
    (there / "root/etc/resolv.conf").unlink(missing_ok=True)
    shutil.copy("/etc/resolv.conf", there / "root/etc/resolv.conf")
    (there / "made").touch()
    return there / "root"


class Root:
    """A system of its own, gone at exit."""

    SETUP = ('set -e; mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"; '
             'mount -t proc proc "$2/root/proc"; mount --rbind /sys "$2/root/sys"; mount --rbind /dev "$2/root/dev"; '
             'cd "$2/root"; shift 2; exec chroot . "$@"')

    def __init__(self, lower):
        self.lower = lower
        # Not below /tmp: that may be a file system on which overlayfs cannot write.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=lower.parent))
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, source, target):
        """A file of this machine into the root."""
        to = self.folder / "upper" / str(target).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to)

    def write(self, target, text):
        to = self.folder / "upper" / str(target).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)

    def run(self, *command, env=None, cwd="/root", limit=500):
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive", **(env or {})}
        inside = ["sh", "-c", 'cd "$0" && exec "$@"', cwd, *[str(part) for part in command]]
        return subprocess.run(["unshare", "--mount", "sh", "-c", self.SETUP, "sh", str(self.lower), str(self.folder), *inside],
                              capture_output=True, text=True, env=environment, timeout=limit)

    def shell(self, script, **more):
        """Its output; ends the test if it fails."""
        done = self.run("sh", "-ec", script, **more)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def files(self):
        """All paths, less those that package managers and the loader keep for themselves."""
        listed = self.shell("find / -xdev ! -type d -print -o -xdev -type d -print", cwd="/").splitlines()
        own = ("/var/log/", "/var/cache/", "/var/lib/apt/", "/var/lib/dpkg/", "/proc/", "/sys/", "/dev/", "/tmp/")
        return {path for path in listed if not path.startswith(own)}
