"""The wheel: the portable build where pip puts programs, libraries and data of an environment, and the module hearth.

Wheels hold no links, so libomp.so and the others are not in it; `hearth run` does without them. libgomp.so.1 is a second
file: programs that are linked with libhearth.so ask for that name.
"""
import base64
import hashlib
import time
import zipfile

import common
import portable
import sbom

TAG = "py3-none-manylinux_2_28_x86_64"
EXTRAS = {"pandas": ["pandas"], "polars": ["polars"], "arrow": ["pyarrow"], "plot": ["matplotlib"]}
# What a wheel brings of the installed prefix; pages are left to the archive.
WANTED = ("bin/", "lib/", "include/", "share/hearth/", "share/man/", "share/bash-completion/", "share/zsh/", "share/fish/")


def metadata():
    lines = ["Metadata-Version: 2.1", "Name: hearth-openmp", f"Version: {common.version()}",
             "Summary: An OpenMP runtime that runs each task beside its data, and its recordings in Python",
             "License: Apache-2.0", "Requires-Python: >=3.10", "Classifier: Operating System :: POSIX :: Linux",
             "Description-Content-Type: text/markdown"]
    for extra, needs in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need}; extra == \"{extra}\"" for need in needs]
    return "\n".join(lines) + "\n\n" + (common.ROOT / "python/README.md").read_text()


def contents(prefix):
    """{path in the wheel: bytes or a file}."""
    name = f"hearth_openmp-{common.version()}"
    files = {}
    for path in sorted((common.ROOT / "python/hearth").glob("*.py")):
        files[f"hearth/{path.name}"] = path
    for path in sorted(prefix.rglob("*")):
        within = str(path.relative_to(prefix))
        if path.is_symlink() and path.name != "libgomp.so.1" or not path.is_file() or not within.startswith(WANTED):
            continue
        files[f"{name}.data/scripts/hearth" if within == "bin/hearth" else f"{name}.data/data/{within}"] = path
    info = f"{name}.dist-info"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: hearth\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    files[f"{info}/licenses/LICENSE"] = common.ROOT / "LICENSE"
    files[f"{info}/sboms/hearth.spdx.json"] = prefix / sbom.PLACE
    return files, info


def build(work, out):
    prefix = portable.install(work)
    files, info = contents(prefix)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("hearth_openmp-*.whl"):
        old.unlink()
    to = out / f"hearth_openmp-{common.version()}-{TAG}.whl"
    record = ""
    date = max(time.gmtime(common.epoch())[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def put(name, data, mode):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
        for name, source in files.items():
            data = source if isinstance(source, bytes) else source.read_bytes()
            put(name, data, 0o755 if not isinstance(source, bytes) and source.stat().st_mode & 0o100 else 0o644)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
        put(f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644)
    return [to]
