"""Real programs with threads, from Debian's source packages: where their sources are, how they are built and tested.

A program is built twice, by clang and by hearth cc, in folders of its own below the work folder. The archives are fetched
once; each is held against the checksum that Debian's .dsc names. What is half done lies in a folder *.part and is done again.
"""
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

MIRROR = os.environ.get("HEARTH_DEBIAN_MIRROR", "http://deb.debian.org/debian").rstrip("/")


class Failed(Exception):
    """A step of one program went wrong; the text is for people."""


class Program:
    """archives: [(path below the mirror's pool, SHA-256)]; build, relink, test: commands of /bin/sh in the source's folder.

    relink makes `product` anew when it has been removed; "": `build` is one command that compiles and links. `more`: tests that take too long to run them always.
    """

    def __init__(self, name, what, archives, build, relink, test, product, more=()):
        self.name, self.what, self.archives, self.product = name, what, archives, product
        self.build, self.relink, self.test, self.more = build, relink, test, more


# Debian builds lbzip2 with a patch for this: the gnulib of 2014 does not know today's glibc by its macros.
_GNULIB = "-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100 -D_IO_ERR_SEEN=0x20"

PROGRAMS = [
    Program("pbzip2", "C++, POSIX threads: workers and a queue",
            [("main/p/pbzip2/pbzip2_1.1.13.orig.tar.gz", "bca3d7b50e4e5f963c82cb9626bb72e4062d83bc2b8b028eee22efdcda972b9b"),
             ("main/p/pbzip2/pbzip2_1.1.13-1.debian.tar.xz", "750e96679d70e847ac08dfa1d698e80215986e98107952e543da88b81352db07")],
            'make pbzip2 CXX="$CXX -Wno-reserved-user-defined-literal"', "",  # "%"PRIuMAX: gcc only warns
            # Debian's own tests of the package, as they stand.
            'export PATH="$PWD:$PATH"; sed -n "s/^Test-Command: //p" debian/tests/control | '
            'while read -r line; do echo "$line"; sh -c "$line" </dev/null || exit 1; done', "pbzip2"),
    Program("lbzip2", "C, POSIX threads: a scheduler of its own",
            [("main/l/lbzip2/lbzip2_2.5.orig.tar.bz2", "eec4ff08376090494fa3710649b73e5412c3687b4b9b758c93f73aa7be27555b")],
            f"./configure CC=\"$CC\" CPPFLAGS='{_GNULIB}' && make", 'make CC="$CC"', "make check", "src/lbzip2"),
    Program("memcached", "C, POSIX threads: a server with libevent",
            [("main/m/memcached/memcached_1.6.18.orig.tar.xz", "35872bd25f8d29d7cc2072d23e74344530891bfd0aa4f4f64184a8ae7291164b")],
            './configure CC="$CC" --disable-docs && make memcached memcached-debug sizes testapp timedrun', 'make memcached CC="$CC"',
            # The whole of t/ takes ten minutes and more, most of it asleep; --all-tests runs it.
            "./sizes && ./testapp && prove -j4 t/binary.t t/cas.t t/flush-all.t t/getset.t t/incrdecr.t t/lru.t t/multiversioning.t "
            "t/noreply.t t/slabs-reassign2.t t/stats.t t/touch.t", "memcached",
            more=("make test",)),
]

# Those that are only timed (bench/btlp/run) and judged by tests/btlp/oracle: their own tests are not run.
MORE_PROGRAMS = [
    Program("zstd", "C, POSIX threads: a pool of workers",
            [("main/libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz", "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953")],
            'make -C programs zstd CC="$CC" DEBUGFLAGS= V=1 HAVE_THREAD=1 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 BACKTRACE=0',
            "", "", "programs/zstd"),
    Program("xz", "C, POSIX threads: a worker for each block",
            [("main/x/xz-utils/xz-utils_5.4.1.orig.tar.xz", "5d9827aa1875b21c288f78864bb26d2650b436ea8d2cad364e4921eb6266a5a5")],
            './configure -q CC="$CC" --disable-shared --disable-nls --disable-doc --disable-scripts --disable-lzmadec --disable-lzmainfo '
            "&& make", "", "", "src/xz/xz"),
    Program("pixz", "C, POSIX threads: a pipeline of reader, workers and writer",
            [("main/p/pixz/pixz_1.0.7.orig.tar.gz", "e29fba74ae399e5d27c21a6009002705ebcc20947b283ed0aa721df6a409680a")],
            "echo '#define HAVE_ENDIAN_H 1' > src/config.h; for file in common cpu endian list pixz read write; do "
            "$CC -std=gnu99 -O2 -w -D_GNU_SOURCE -DPACKAGE_VERSION='\"1.0.7\"' -c src/$file.c -o src/$file.o || exit; done; "
            "$CC src/*.o -o pixz -larchive -llzma -lm -pthread", "", "", "pixz"),
]


def named(names):
    known = {each.name: each for each in PROGRAMS}
    for name in names:
        if name not in known:
            sys.exit(f"no program {name}; legal: {', '.join(known)}")
    return [known[name] for name in names] if names else PROGRAMS


def archives_of(name):
    return next(each.archives for each in PROGRAMS + MORE_PROGRAMS if each.name == name)


class Steps:
    """Says what is done and for how long, runs the commands, and leaves none behind when it is interrupted."""

    def __init__(self):
        self.live = sys.stdout.isatty()

    def run(self, what, command, folder, log, environment=None):
        begin = time.monotonic()
        if not self.live:
            print(f"{what} …", flush=True)
        with open(log, "ab") as sink:
            child = subprocess.Popen(["/bin/sh", "-c", command], cwd=folder, env={**os.environ, **(environment or {})},
                                     stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                while True:
                    try:
                        child.wait(timeout=1)
                        break
                    except subprocess.TimeoutExpired:
                        if self.live:
                            print(f"\r{what} … {time.monotonic() - begin:.0f} s ", end="", flush=True)
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
        seconds = time.monotonic() - begin
        if self.live:
            print(f"\r{what}: {seconds:.0f} s    ", flush=True)
        if child.returncode != 0:
            tail = pathlib.Path(log).read_text(errors="replace").splitlines()[-25:]
            raise Failed("\n".join(["  " + line for line in tail] + [f"{what} failed; the whole output: {log}"]))


def fetch(name, archives, work):
    """The archives of this program, checked."""
    folder = work / "download"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for path, wanted in archives:
        target = folder / path.rsplit("/", 1)[1]
        if not target.exists():
            print(f"{name}: fetching {MIRROR}/pool/{path}", flush=True)
            part = target.with_name(target.name + ".part")
            try:
                with urllib.request.urlopen(f"{MIRROR}/pool/{path}", timeout=60) as source, open(part, "wb") as sink:
                    shutil.copyfileobj(source, sink)
            except OSError as problem:
                raise Failed(f"{MIRROR}/pool/{path}: {problem}. HEARTH_DEBIAN_MIRROR names another mirror.") from problem
            part.rename(target)
        got = hashlib.sha256(target.read_bytes()).hexdigest()
        if got != wanted:
            target.unlink()
            raise Failed(f"{target.name} has the SHA-256 {got}, not {wanted}; removed, run again to fetch it anew")
        found.append(target)
    return found


def unpack(archives, place):
    """Makes the folder `place`, whole or not at all."""
    part = place.with_name(place.name + ".part")
    shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for archive in archives:
        strip = [] if archive.name.endswith(".debian.tar.xz") else ["--strip-components=1"]
        subprocess.run(["tar", "xf", archive, "-C", part, *strip], check=True)
    part.rename(place)  # before it is built: libtool and configure write the path down


def built(program, work, kind, compilers, steps):
    """The folder of the program built by these compilers; `kind` names it."""
    place = work / f"{program.name}-{kind}"
    if (place / ".built").exists():
        return place
    unpack(fetch(program.name, program.archives, work), place)
    steps.run(f"{program.name}: building with {kind}", program.build, place, place / "build.log",
              {"CC": compilers[0], "CXX": compilers[1], "MAKEFLAGS": f"-j{os.cpu_count()}"})
    (place / ".built").touch()
    return place
