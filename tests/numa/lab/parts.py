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
# In the order in which the guest loads them; virtio_ring comes before virtio.
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


def kernel():
    """Folder with vmlinuz and modules/ of Debian's kernel for this release, fetched once; or what HEARTH_NUMA_KERNEL names."""
    chosen = os.environ.get("HEARTH_NUMA_KERNEL")
    folder = pathlib.Path(chosen) if chosen else OUTPUT / "kernel"
    wanted = [folder / "vmlinuz", *(folder / "modules" / f"{pathlib.Path(name).name}.ko" for name in MODULES)]
    missing = [path for path in wanted if not path.exists()]
    if not missing:
        return folder
    if chosen:
        raise MissingPart(f"HEARTH_NUMA_KERNEL={chosen}: there is no {missing[0]}")
    if not shutil.which("apt-get"):
        raise MissingPart(f"there is no {missing[0]}, and without apt-get no way to fetch Debian's kernel")
    package = _kernel_package()
    say(f"fetching {package} (unpacked into {folder.relative_to(ROOT)}, not installed)")
    downloads = OUTPUT / "download"
    shutil.rmtree(downloads, ignore_errors=True)
    downloads.mkdir(parents=True)
    _run(["apt-get", "-q", "-o", "APT::Sandbox::User=", "download", package], cwd=downloads)
    _unpack_kernel(next(downloads.glob("*.deb")), folder)
    shutil.rmtree(downloads)
    return folder


def _kernel_package():
    def ask():
        done = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        return re.search(r"Depends: (linux-image-\S+)", done.stdout)
    found = ask()
    if not found and os.geteuid() == 0:  # the package lists of a bare container
        _run(["apt-get", "-q", "update"])
        found = ask()
    if not found:
        raise MissingPart("apt knows no linux-image-amd64; run apt-get update as root, then try again")
    return found.group(1)


def _unpack_kernel(package, folder):
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "modules").mkdir(parents=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as unpacking:
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
            for entry in archive:
                if not entry.isfile():
                    continue
                module = re.search(r"/kernel/(.*)\.ko(\.xz)?$", entry.name)
                if "/boot/vmlinuz-" in entry.name:
                    (partial / "vmlinuz").write_bytes(archive.extractfile(entry).read())
                elif module and module.group(1) in MODULES:
                    data = archive.extractfile(entry).read()
                    name = pathlib.Path(module.group(1)).name + ".ko"
                    (partial / "modules" / name).write_bytes(lzma.decompress(data) if module.group(2) else data)
    absent = [name for name in MODULES if not (partial / "modules" / f"{pathlib.Path(name).name}.ko").exists()]
    if absent or not (partial / "vmlinuz").exists():
        raise MissingPart(f"{package.name} lacks {', '.join(absent) or 'vmlinuz'}")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


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
    output = OUTPUT / "initramfs.gz"
    modules = [kernel_folder / "modules" / f"{pathlib.Path(name).name}.ko" for name in MODULES]
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


def plugin():
    source = NUMA / "plugin" / "llc_matrix.c"
    output = OUTPUT / "llc_matrix.so"
    if not newer(output, [source, source.with_name("qemu_plugin_api.h")]):
        build(["gcc", "-O2", "-Wall", "-Wextra", "-std=gnu11", "-shared", "-fPIC"], [source], output)
    return output


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
