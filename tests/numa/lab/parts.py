"""What a virtual machine is made of: QEMU, Debian's kernel (unpacked, not installed), an initramfs, the plugin, the programs.

Everything made lies under build/numa-lab/ and is made again when its source is newer. What is missing is an error that
names what to do about it; nothing is ever skipped.
"""
import gzip
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from .topologies import ROOT

HERE = pathlib.Path(__file__).resolve().parent
NUMA = HERE.parent
OUTPUT = ROOT / "build" / "numa-lab"
QEMU = "qemu-system-x86_64"
# In the order in which the guest loads them; virtio_ring comes before virtio. Some kernels have some of them built in, and
# from 6.8 on fscache is a part of netfs.
MODULES = ("drivers/virtio/virtio_ring", "drivers/virtio/virtio", "drivers/virtio/virtio_pci_legacy_dev",
           "drivers/virtio/virtio_pci_modern_dev", "drivers/virtio/virtio_pci", "fs/netfs/netfs", "fs/fscache/fscache",
           "net/9p/9pnet", "net/9p/9pnet_virtio", "fs/9p/9p", "fs/overlayfs/overlay")


class MissingPart(Exception):
    """Something the machines need is not there and could not be fetched or made."""


def say(text):
    print(f"numa: {text}", file=sys.stderr, flush=True)


def newer(output, inputs):
    return output.exists() and all(path.stat().st_mtime <= output.stat().st_mtime for path in inputs)


def _run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        raise MissingPart(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def qemu():
    found = shutil.which(QEMU)
    if not found:
        raise MissingPart(f"there is no {QEMU}; run: tools/setup numa")
    return found


# --kernel: Debian's for this release, the newest that Debian has (unstable), or a folder with vmlinuz and modules/.
RELEASE, NEWEST = "release", "newest"
wanted_kernel = os.environ.get("HEARTH_NUMA_KERNEL", RELEASE)
_UNSTABLE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main\n"


def kernel():
    """Folder with vmlinuz and modules/ of the wanted kernel; one of Debian's is fetched once."""
    if wanted_kernel not in (RELEASE, NEWEST):
        folder = pathlib.Path(wanted_kernel)
        for part in ("vmlinuz", "modules"):
            if not (folder / part).exists():
                raise MissingPart(f"kernel {folder}: there is no {part} in it; legal: {RELEASE}, {NEWEST}, or a folder with "
                                  "vmlinuz and modules/")
        return folder
    folder = OUTPUT / ("kernel" if wanted_kernel == RELEASE else f"kernel-{wanted_kernel}")
    if not (folder / "vmlinuz").exists():
        _fetch_kernel(folder)
    return folder


def _fetch_kernel(folder):
    if not shutil.which("apt-get"):
        raise MissingPart(f"there is no {folder / 'vmlinuz'}, and without apt-get no way to fetch Debian's kernel")
    apt = _apt_of_unstable() if wanted_kernel == NEWEST else []
    packages = _kernel_packages(apt)
    say(f"fetching {packages[0]} (unpacked into {folder.relative_to(ROOT)}, not installed)")
    downloads = OUTPUT / "download"
    shutil.rmtree(downloads, ignore_errors=True)
    downloads.mkdir(parents=True)
    _run(["apt-get", "-q", *apt, "-o", "APT::Sandbox::User=", "download", *packages], cwd=downloads)
    _unpack_kernel(sorted(downloads.glob("*.deb")), folder)
    shutil.rmtree(downloads)


def _apt_of_unstable():
    """Options by which apt knows Debian's unstable release, and this machine's own lists stay as they are."""
    folder = OUTPUT / "apt"
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(_UNSTABLE)
    settings = {"APT::Sandbox::User": "", "Acquire::Languages": "none", "Dir::Etc::SourceList": folder / "sources.list",
                "Dir::Etc::SourceParts": folder / "parts", "Dir::State::Lists": folder / "lists", "Dir::Cache": folder / "cache"}
    apt = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    _run(["apt-get", "-q", *apt, "update"])
    return apt


def _kernel_packages(apt):
    """linux-image-..., and what it consists of where that has packages of its own."""
    def depends(package, name):
        done = subprocess.run(["apt-cache", *apt, "depends", package], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        return re.findall(rf"Depends: ({name}-\d\S+)", done.stdout)
    found = depends("linux-image-amd64", "linux-image")
    if not found and not apt and os.geteuid() == 0:  # the package lists of a bare container
        _run(["apt-get", "-q", "update"])
        found = depends("linux-image-amd64", "linux-image")
    if not found:
        raise MissingPart("apt knows no linux-image-amd64; run apt-get update as root, then try again")
    return [found[0], *(part for name in ("base", "binary", "modules") for part in depends(found[0], f"linux-{name}"))]


def _unpack_kernel(packages, folder):
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "modules").mkdir(parents=True)
    built_in = ""
    for package in packages:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as unpacking:
            with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
                for entry in archive:
                    if entry.isfile():
                        built_in += _keep(entry, archive, partial)
    absent = [name for name in MODULES if not (partial / "modules" / f"{pathlib.Path(name).name}.ko").exists()
              and f"kernel/{name}.ko" not in built_in.split() and name != "fs/fscache/fscache"]
    if absent or not (partial / "vmlinuz").exists():
        raise MissingPart(f"{', '.join(package.name for package in packages)}: no {', '.join(absent) or 'vmlinuz'}")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def _keep(entry, archive, folder):
    """Writes what the machines need of a package; returns the list of what the kernel has built in, if this is it."""
    module = re.search(r"/kernel/(.*)\.ko(\.xz)?$", entry.name)
    if re.search(r"/boot/vmlinuz-|/modules/[^/]+/vmlinuz$", entry.name):
        (folder / "vmlinuz").write_bytes(archive.extractfile(entry).read())
    elif module and module.group(1) in MODULES:
        data = archive.extractfile(entry).read()
        name = pathlib.Path(module.group(1)).name + ".ko"
        (folder / "modules" / name).write_bytes(lzma.decompress(data) if module.group(2) else data)
    elif entry.name.endswith("/modules.builtin"):
        return archive.extractfile(entry).read().decode()
    return ""


def _archive(entries):
    """A cpio archive in the kernel's "newc" form. An entry is (name, mode, bytes)."""
    result = bytearray()
    for number, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        result += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        result += b"\0" * (-len(result) % 4)
        result += data
        result += b"\0" * (-len(result) % 4)
    return bytes(result)


def initramfs(kernel_folder):
    """busybox, the modules in loading order, and init.sh: all that the guest has before the host's root is mounted."""
    busybox = pathlib.Path("/bin/busybox")
    if not busybox.exists():
        raise MissingPart("there is no /bin/busybox; run: tools/setup numa")
    output = OUTPUT / f"initramfs-{kernel_folder.name}.gz"
    modules = [kernel_folder / "modules" / f"{pathlib.Path(name).name}.ko" for name in MODULES]
    modules = [module for module in modules if module.exists()]
    if newer(output, [busybox, *modules, HERE / "init.sh", HERE / "parts.py"]):
        return output
    folder, link, program, plain = 0o040755, 0o120777, 0o100755, 0o100644
    entries = [(name, folder, b"") for name in ("bin", "dev", "proc", "sys", "layers", "modules", "root")]
    entries += [("bin/busybox", program, busybox.read_bytes()), ("bin/sh", link, b"busybox"),
                ("init", program, (HERE / "init.sh").read_bytes())]
    entries += [(f"modules/{place:02d}-{module.name}", plain, module.read_bytes())
                for place, module in enumerate(modules)]
    output.parent.mkdir(parents=True, exist_ok=True)
    write_whole(output, gzip.compress(_archive(entries), compresslevel=1))
    return output


def write_whole(output, data):
    """Two runs at a time never see half a file."""
    partial = output.with_name(f"{output.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.rename(output)


def _plugin(name, sources):
    folder = NUMA / "plugin"
    output = OUTPUT / f"{name}.so"
    sources = [folder / source for source in sources]
    if not newer(output, [*sources, *folder.glob("*.h")]):
        build(["gcc", "-O2", "-Wall", "-Wextra", "-std=gnu11", "-shared", "-fPIC"], sources, output)
    return output


def plugin():
    return _plugin("llc_matrix", ["llc_matrix.c"])


def timed_plugin():
    return _plugin("timed_memory", ["timed_memory.c", "timed_caches.c"])


def build(command, sources, output, libraries=()):
    output.parent.mkdir(parents=True, exist_ok=True)
    if not shutil.which(command[0]):
        raise MissingPart(f"there is no {command[0]}; run: tools/setup")
    partial = output.with_name(f"{output.name}.{os.getpid()}")
    _run([*command, *map(str, sources), "-o", str(partial), *libraries])
    partial.rename(output)


_C_FLAGS = ["-O2", "-g", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-fopenmp"]
# The C programs are C++ too, for those compilers that say so.
COMPILERS = {"gcc": ["gcc", *_C_FLAGS, "-std=gnu11"], "clang": ["clang-19", *_C_FLAGS, "-std=gnu11"],
             "g++": ["g++", *_C_FLAGS, "-std=gnu++17", "-x", "c++"],
             "clang++": ["clang++-19", *_C_FLAGS, "-std=gnu++17", "-x", "c++"],
             "gfortran": ["gfortran", "-O2", "-g", "-Wall", "-fopenmp", f"-J{OUTPUT / 'programs'}",
                          str(ROOT / "include" / "hearth" / "hearth.f90")]}


def program(source, compiler="gcc", libraries=(), flags=(), more=(), name=None):
    """Path of the program that this compiler makes of one file, with OpenMP; `flags` may name folders and defines,
    `more` files that belong to it. It is called `name`, or as its source."""
    output = OUTPUT / "programs" / f"{name or source.stem}.{compiler}"
    includes = [] if compiler == "gfortran" else [f"-I{NUMA}", f"-I{ROOT / 'include'}"]
    command = [COMPILERS[compiler][0], *includes, *flags, *COMPILERS[compiler][1:]]
    stamp = output.with_name(output.name + ".command")
    line = " ".join([*command, *libraries])
    headers = [*NUMA.glob("*.h"), *source.parent.glob("*.h"), *(ROOT / "include" / "hearth").glob("*")]
    if not (newer(output, [source, *more, *headers]) and stamp.exists() and stamp.read_text() == line):
        output.parent.mkdir(parents=True, exist_ok=True)  # a compiler of modules does not make it
        build(command, [source, *more], output, libraries)
        write_whole(stamp, line.encode())
    return output
