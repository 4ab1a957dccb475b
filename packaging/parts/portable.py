"""The build for every distribution with glibc 2.28, and its archive, which works from any folder."""
import functools
import os
import shutil
import subprocess

import common
import sbom


def is_program(path):
    """An ELF file, not a link to one."""
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


@functools.cache
def install(work):
    """A prefix with what a user needs, stripped. Built once for all forms in one call of packaging/package."""
    work = work / "portable"
    prefix = work / f"hearth-{common.version()}-linux-x86_64"
    tree = work / "source"
    if any(letter in str(work) for letter in " '\""):
        raise common.Failed(f"--work {work}: no blanks or quotes; the flags of the compilers have this name")
    shutil.rmtree(work, ignore_errors=True)
    common.copy_source(tree)
    # The folder of the build is in no file, so that any folder gives the same bytes.
    flags = f"-ffile-prefix-map={tree}=. -ffile-prefix-map={work}/build=build"
    log = work / "build.log"
    common.run("cmake", "-S", tree, "-B", work / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DHEARTH_PORTABLE=ON",
               "-DHEARTH_BTLP=OFF", "-DHEARTH_MAPPERS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_C_FLAGS={flags}",
               f"-DCMAKE_CXX_FLAGS={flags}", f"-DCMAKE_ASM_FLAGS={flags}", log=log)
    common.run("cmake", "--build", work / "build", "-j", os.environ.get("JOBS", str(os.cpu_count())), log=log)
    common.run("cmake", "--install", work / "build", "--prefix", prefix, log=log)
    programs = [path for path in sorted(prefix.rglob("*")) if is_program(path)]
    for path in programs:
        common.run("strip", "--strip-unneeded", path)
        run_path = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        if "RPATH" in run_path or "RUNPATH" in run_path:
            raise common.Failed(f"{path}: has a run path")
    common.run(common.ROOT / "tools/check-portable", *programs)
    sbom.write(prefix)
    return prefix


def build(work, out):
    prefix = install(work)
    to = out / f"{prefix.name}.tar.gz"
    common.archive(prefix, to)
    return [to]
