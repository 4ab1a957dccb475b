"""A compiler driver with a memory: lit's compile commands run through it, so that a suite is compiled once.

    cached_cc.py CACHE STAMP COMPILER ARGUMENTS...

The key is the command line, the STAMP (compiler version and suite version, which stand for all headers) and the contents
of the sources and objects on the command line. Only successful commands with one `-o FILE` are remembered, together with
what they printed. Several processes may use one cache: entries are renamed into place.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile


def main():
    cache, stamp, argv = sys.argv[1], sys.argv[2], sys.argv[3:]
    if argv.count("-o") != 1 or argv.index("-o") + 1 == len(argv):
        os.execvp(argv[0], argv)
    at = argv.index("-o") + 1
    target = argv[at]
    digest = hashlib.sha256(stamp.encode())
    for i, word in enumerate(argv):
        digest.update(b"\0" + (b"" if i == at else word.encode()))
        if i != at and i > 0 and not word.startswith("-") and os.path.isfile(word):
            with open(word, "rb") as source:
                digest.update(source.read())
    entry = os.path.join(cache, digest.hexdigest())
    if os.path.isdir(entry):
        with open(os.path.join(entry, "text"), "rb") as text:
            sys.stderr.buffer.write(text.read())
        # A copy under another name, then a rename: an older run of the same test may still be executing the file.
        shutil.copy2(os.path.join(entry, "file"), target + ".fresh")
        os.replace(target + ".fresh", target)
        return 0
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    sys.stderr.buffer.write(done.stdout)
    if done.returncode == 0 and os.path.isfile(target):
        os.makedirs(cache, exist_ok=True)
        fresh = tempfile.mkdtemp(dir=cache)
        shutil.copy2(target, os.path.join(fresh, "file"))
        with open(os.path.join(fresh, "text"), "wb") as text:
            text.write(done.stdout)
        try:
            os.rename(fresh, entry)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


sys.exit(main())
