"""Real programs for tests/btlp/oracle: where they come from, how they are built, and what they are made to do.

Sources are Debian's source packages, fetched below FOLDER by bench/btlp/programs.py. Work is
small: an exact recording is some hundred times slower than the program.
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench/btlp"))
import programs as debian  # noqa: E402  (the path has to be set first)

# (program, pair and object, reason); both are regular expressions.
EXCEPTIONS = []

DATA = 600_000  # bytes of input

# name: (Debian package, how to build, how to run, files that carry the program's bitcode). {cc} and {cxx} record; {data} is a
# file of text. Paths are below the program's own folder.
PROGRAMS = {
    "pbzip2": ("pbzip2", "for file in pbzip2 BZ2StreamScanner ErrorContext; do {cxx} -O1 -std=gnu++98 -Wno-everything -pthread -c "
               "$file.cpp -o $file.o || exit; done; {cxx} *.o -o pbzip2 -lbz2 -pthread",
               ["./pbzip2 -p4 -b1 -k -c {data} > out.bz2"], "*.o"),
    "lbzip2": ("lbzip2", "./configure -q CC='{cc}' CFLAGS='-O1 -w' CPPFLAGS='-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100 -D_IO_ERR_SEEN=0x20' "
               "--disable-dependency-tracking && make -s -C lib && make -s -C src",
               ["src/lbzip2 -n 4 -k -c {data} > out.bz2", "src/lbzip2 -d -n 2 -c out.bz2 > back"], "src/*.o lib/*printf*.o lib/xmalloc.o lib/fseterr.o lib/*time*.o"),
    "zstd": ("zstd", "make -s -C programs zstd CC='{cc}' MOREFLAGS='-O1' DEBUGFLAGS= V=1 HAVE_THREAD=1 HAVE_ZLIB=0 "
             "HAVE_LZMA=0 HAVE_LZ4=0 BACKTRACE=0",
             ["programs/zstd -q -f -T3 -B131072 -3 {data} -o out.zst"], "programs/obj/**/*.o programs/*.o"),
    "xz": ("xz", "./configure -q CC='{cc}' CFLAGS='-O1' --disable-shared --disable-nls --disable-doc --disable-scripts "
           "--disable-lzmadec --disable-lzmainfo --disable-dependency-tracking && make -s",
           ["src/xz/xz -q -f -k -0 -T3 --block-size=150000 -c {data} > out.xz", "src/xz/xz -q -d -T3 -c out.xz > back"],
           "src/liblzma/**/*.o src/xz/*.o src/common/*.o"),
    "memcached": ("memcached", "./configure -q CC='{cc}' CFLAGS='-O1' --disable-docs --disable-dependency-tracking && "
                  "make -s memcached",
                  ["sh {here}/oracle_memcached.sh"], "memcached-*.o"),
    "pixz": ("pixz", "echo '#define HAVE_ENDIAN_H 1' > src/config.h; for file in common cpu endian list pixz read write; do {cc} -std=gnu99 -O1 -w -D_GNU_SOURCE "
             "-DPACKAGE_VERSION='\"oracle\"' -c src/$file.c -o src/$file.o || exit; done; "
             "{cc} src/*.o -o pixz -larchive -llzma -lm -pthread",
             ["./pixz -p 3 -0 -f 0.05 -t -i {data} -o out.pxz", "./pixz -d -p 2 -t -i out.pxz -o back"], "src/*.o"),
    "lrzip": ("lrzip", "autoreconf -fi >/dev/null 2>&1; ./configure -q CC='{cc}' CXX='{cxx}' CFLAGS='-O1' CXXFLAGS='-O0' "
              "--disable-asm --disable-static-bin --disable-dependency-tracking && make -s",
              ["./lrzip -q -f -p 3 -L 1 {data} -o out.lrz"], "*.o libzpaq/*.o lzma/C/*.o"),
}


# What bench/btlp/programs.py does not have.
ARCHIVES = {
    "lrzip": ("main/l/lrzip/lrzip_0.651.orig.tar.gz", "f4c84de778a059123040681fd47c17565fcc4fec0ccc68fcf32d97fad16cd892"),
}


def fetch(folder, package):
    """The unpacked upstream source."""
    place = folder / "sources" / package
    if place.is_dir():
        return place
    archives = [ARCHIVES[package]] if package in ARCHIVES else debian.archives_of(package)[:1]
    try:
        debian.unpack(debian.fetch(package, archives, folder), place)
    except debian.Failed as problem:
        raise OSError(str(problem)) from problem
    return place


def text(path):
    words = [f"word{n * 7919 % 1009} " for n in range(1000)]
    content = "".join(words[(n * n + n // 7) % 1000] for n in range(DATA // 6))
    path.write_text(content[:DATA])


def judge(oracle, build, folder, name):
    package, make, runs, objects = PROGRAMS[name]
    source = fetch(folder, package)
    data = folder / "data.txt"
    if not data.exists():
        text(data)
    words = {"cc": f"{build}/bin/hearth-cc --record=exact", "cxx": f"{build}/bin/hearth-c++ --record=exact", "data": data,
             "here": pathlib.Path(__file__).resolve().parent}
    stamp = source / "hearth.built"
    if not stamp.exists():
        # Programs that a build makes and runs for itself record into a file that nobody reads.
        oracle.call(["sh", "-c", make.format(**words)], source, {"HEARTH_RECORD_FILE": str(folder / "build.rec")}, 1200)
        stamp.touch()
    files = sorted({path for pattern in objects.split() for path in source.glob(pattern)})
    counts, missed, excuses = {}, [], []
    for number, run in enumerate(runs):
        recording = folder / f"{name}.{number}.rec"
        recording.unlink(missing_ok=True)
        oracle.call(["sh", "-c", run.format(**words)], source, {"HEARTH_RECORD_FILE": str(recording)}, 900)
        if not recording.exists():
            raise oracle.Failed(f"{run}: no recording")
        # The edges are the same in all modes, and the analysis of a large program takes minutes.
        some, *lists = oracle.compare(build, folder, name, recording, files, ["balanced"], 1500)
        for key, value in some.items():
            counts[key] = counts.get(key, 0) + value
        missed += lists[0]
        excuses += lists[1]
    return counts, missed, excuses
