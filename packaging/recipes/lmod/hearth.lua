-- A modulefile for Lmod: hearth/@VERSION@.lua in a folder of MODULEPATH. `root` is where you unpacked the archive.
local root = "/opt/hearth/@VERSION@"
help([[Hearth, an OpenMP runtime that runs each task beside its data. `hearth run ./app` runs a program on it;
`module load hearth` alone changes no program.]])
whatis("Name: hearth")
whatis("Version: @VERSION@")
whatis("Description: OpenMP runtime that runs each task beside its data")

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", root)
