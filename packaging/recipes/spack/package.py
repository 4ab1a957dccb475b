# A recipe of Spack: copy it to packages/hearth/package.py of a repository of yours. The archive is made by: packaging/package source
from spack.package import *


class Hearth(CMakePackage):
    """OpenMP runtime that runs each task beside its data."""

    url = "file:///usr/src/hearth-@VERSION@.tar.gz"

    license("Apache-2.0")

    # No checksum: the archive is the one that you made. `spack checksum` adds one.
    version("@VERSION@")

    variant("threads", default=False, description="hearth cc, for programs with pthreads")
    variant("mappers", default=False, description="mappers of METIS and Scotch")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("fmt@9:")
    depends_on("sqlite@3.35:")
    depends_on("zlib-api")
    depends_on("cli11@2.3:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3:", type="build")
    depends_on("hwloc@2.5:")
    depends_on("llvm@19", when="+threads")
    depends_on("metis", when="+mappers")
    depends_on("scotch", when="+mappers")

    requires("target=x86_64:", msg="entry points of kmpc are written for x86-64")
    requires("platform=linux")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("HEARTH_BTLP", "threads"),
            self.define_from_variant("HEARTH_MAPPERS", "mappers"),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
        ]

    @property
    def libs(self):
        return find_libraries("libhearth", root=self.prefix.lib.hearth, shared=True)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        Executable(self.prefix.bin.hearth)("--version")
