#!/bin/sh
# A person's first minutes with an installed Hearth: run programs of every compiler that is there, record, report, and
# compile against hearth.h. Runs inside a clean root. Ends with the first thing that fails.
#
# Usage: try.sh PROGRAMS HEARTH [--no-development]     PKG_CONFIG_PATH, CMAKE_PREFIX_PATH: where it was installed
set -eu
programs=$1
hearth=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "try.sh: $*" >&2; exit 1; }

# served WHAT: the program prints the right number, and Hearth alone ran its two regions and ten tasks.
served() {
  "$hearth" run --verify -- ./sum >out 2>err || fail "$1: $(cat out err)"
  [ "$(cat out)" = 499510 ] || fail "$1: prints $(cat out)"
  grep -q "2 parallel regions and 10 tasks served by Hearth in 1 process." err || fail "$1: $(cat err)"
  echo "served: $1"
}

"$hearth" --version
for compiler in gcc clang g++ clang++ gfortran; do
  command -v $compiler >/dev/null || continue
  case $compiler in *fortran) source=sum.f90 ;; *++) source=sum.cpp ;; *) source=sum.c ;; esac
  $compiler -O1 -fopenmp "$programs/$source" -o sum
  served "$compiler"
done

"$hearth" record -o run.db -- ./sum >out 2>err || fail "record: $(cat err)"
"$hearth" report --text run.db >first 2>err || fail "report: $(cat err)"
[ -s first ] || fail "report --text says nothing"
"$hearth" report run.db -o run.html >out 2>err || fail "report: $(cat err)"
grep -q "<html" run.html || fail "no page"
"$hearth" model list | grep -q opteron-6172x4 || fail "no models"
HEARTH_MACHINE=opteron-6172x4 "$hearth" run -- ./sum >out 2>err || fail "on a model: $(cat err)"
echo "recorded and reported"
if "$hearth" help demo >/dev/null 2>&1; then
  "$hearth" demo >out 2>&1 || fail "demo: $(cat out)"
  grep -q "fib  *gcc  *[0-9].* ms" out || fail "demo shows nothing: $(cat out)"
  echo "demonstrated"
fi

[ "${3:-}" = --no-development ] && exit 0
flags=$(pkg-config --cflags --libs hearth)
folder=$(pkg-config --variable=includedir hearth)
right() { [ "$(./calls)" = "block 1" ] || fail "calls: $1 prints $(./calls 2>&1)"; echo "calls: $1"; }
gcc "$programs/calls.c" -o calls $flags && right "C by pkg-config"
g++ "$programs/calls.cpp" -o calls $flags && right "C++ by pkg-config"
gfortran "$folder/hearth/hearth.f90" "$programs/calls.f90" -o calls $flags && right "Fortran by pkg-config"
rm calls
cmake -S "$programs/project" -B build >out 2>&1 && cmake --build build >>out 2>&1 || fail "CMake: $(cat out)"
cp build/calls . && right "C by find_package(Hearth)"
