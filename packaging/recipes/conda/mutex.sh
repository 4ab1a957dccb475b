#!/bin/bash
# The output _openmp_mutex: libgomp.so.1 of the environment is Hearth. libomp.so and libiomp5.so stay with llvm-openmp and
# intel-openmp, which own those files. PREFIX: from conda-build.
set -euo pipefail
mkdir -p "$PREFIX/lib"
ln -sf hearth/libhearth.so "$PREFIX/lib/libgomp.so.1"
