"""What is inside of the portable build, as an SPDX 2.3 document: its files with checksums, and the libraries that are part of them.

The list of components is here and nowhere else; tests/house/packages_test.py holds it against tools/setup. Versions are those of
the packages that this machine builds with.
"""
import datetime
import hashlib
import json
import shutil
import subprocess

import common

# Debian's package: (name, licence, how it gets into the command)
COMPONENTS = {
    "libfmt-dev": ("fmt", "MIT", "STATIC_LINK"),
    "libsqlite3-dev": ("SQLite", "blessing", "STATIC_LINK"),
    "zlib1g-dev": ("zlib", "Zlib", "STATIC_LINK"),
    "libcli11-dev": ("CLI11", "BSD-3-Clause", "STATIC_LINK"),
    "nlohmann-json3-dev": ("JSON for Modern C++", "MIT", "STATIC_LINK"),
    "libtomlplusplus-dev": ("toml++", "MIT", "STATIC_LINK"),
    "g++": ("GCC's C++ library", "GPL-3.0-or-later WITH GCC-exception-3.1", "STATIC_LINK"),
    "libhwloc-dev": ("hwloc", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF"),  # its headers; opened where it is installed
}
PLACE = "share/doc/hearth/hearth.spdx.json"


def installed_version(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    if asked.returncode != 0:
        raise common.Failed(f"the version of {package} is not known: {asked.stderr.strip()}")
    return asked.stdout.strip()


def identity(text):
    return "SPDXRef-" + "".join(letter if letter.isalnum() else "-" for letter in text)


def document(prefix, version_of=installed_version):
    """A dict. Links are left out: they are names of other files."""
    day = datetime.datetime.fromtimestamp(common.epoch(), datetime.timezone.utc)
    files, sums = [], []
    for path in sorted(prefix.rglob("*")):
        within = str(path.relative_to(prefix))
        if path.is_symlink() or not path.is_file() or within == PLACE:
            continue
        data = path.read_bytes()
        sums.append(hashlib.sha1(data).hexdigest())
        files.append({"SPDXID": identity(f"File-{within}"), "fileName": f"./{within}", "copyrightText": "NOASSERTION",
                      "licenseConcluded": "Apache-2.0", "checksums": [
                          {"algorithm": "SHA1", "checksumValue": sums[-1]},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}]})
    code = hashlib.sha1("".join(sorted(sums)).encode()).hexdigest()
    hearth = {"SPDXID": "SPDXRef-hearth", "name": "hearth", "versionInfo": common.version(), "downloadLocation": "NOASSERTION",
              "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
              "filesAnalyzed": True, "packageVerificationCode": {"packageVerificationCodeValue": code}}
    packages = [hearth]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-hearth"}]
    for package, (name, licence, how) in COMPONENTS.items():
        version = version_of(package)
        packages.append({"SPDXID": identity(package), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                         "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", "filesAnalyzed": False,
                         "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                           "referenceLocator": f"pkg:deb/debian/{package.replace('+', '%2B')}@{version}"}]})
        ends = ("SPDXRef-hearth", identity(package))
        first, second = reversed(ends) if how.endswith("_OF") else ends
        relations.append({"spdxElementId": first, "relationshipType": how, "relatedSpdxElement": second})
    relations += [{"spdxElementId": "SPDXRef-hearth", "relationshipType": "CONTAINS", "relatedSpdxElement": file["SPDXID"]} for file in files]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"hearth-{common.version()}",
            "documentNamespace": f"https://spdx.org/spdxdocs/hearth-{common.version()}-{code}",
            "creationInfo": {"created": f"{day:%Y-%m-%dT%H:%M:%SZ}", "creators": ["Tool: packaging/package"]},
            "packages": packages, "files": files, "relationships": relations}


def write(prefix):
    """Into the prefix itself, so that the archive and the wheel bring it."""
    to = prefix / PLACE
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(document(prefix), indent=1) + "\n")


def build(work, out):
    import portable
    out.mkdir(parents=True, exist_ok=True)
    to = out / f"hearth-{common.version()}.spdx.json"
    shutil.copy2(portable.install(work) / PLACE, to)
    return [to]
