#!/bin/bash
# The output hearth. SRC_DIR, PREFIX: from conda-build.
set -euo pipefail
cmake -S "$SRC_DIR" -B "$SRC_DIR/build/conda" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib -DHEARTH_BTLP=OFF -DHEARTH_MAPPERS=OFF ${CMAKE_ARGS:-}
cmake --build "$SRC_DIR/build/conda" -j "${CPU_COUNT:-2}"
cmake --install "$SRC_DIR/build/conda" --strip
