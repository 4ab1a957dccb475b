#!/usr/bin/env python3
"""What a newcomer does who reads one page of docs/guide/install: its commands, in their order, in a clean system. Each has to
succeed; together they take less than five minutes. Prints how long.
"""
import os
import re
import time
import unittest

from packages import OUT, ROOT, Root, system

PAGES = ROOT / "docs/guide/install"
WITH_GCC = ("bookworm", ("gcc", "libc6-dev"))
BARE = ("bookworm", ())
PYTHON = ("bookworm", ("python3-venv",))


def commands(page):
    """The blocks that are fenced as sh."""
    return re.findall(r"^```sh\n(.*?)^```", (PAGES / page).read_text(), re.M | re.S)


class Newcomer(unittest.TestCase):
    def walk(self, page, lower, files, told):
        blocks = commands(page)
        self.assertGreaterEqual(len(blocks), 3, "install, first program, first report")
        with Root(system(*lower)) as root:
            for pattern in files:
                for path in OUT.glob(pattern):
                    root.put(path, f"/root/{path.name}")
            environment = {}
            if os.environ.get("PIP_CERT"):  # a certificate that pip was told of here
                root.put(os.environ["PIP_CERT"], "/etc/trusted.crt")
                environment["PIP_CERT"] = "/etc/trusted.crt"
            began = time.monotonic()
            out = root.shell("\n".join(blocks), env=environment, limit=900)
            seconds = time.monotonic() - began
            print(f"{page}: {seconds:.0f} s")
            for words in told:
                self.assertIn(words, out)
            self.assertIn("<html", root.shell("cat run.html"))
            self.assertLess(seconds, 300)

    SERVED = ("64000.0\n64000.0", "1 parallel region and 64 tasks served by Hearth in 1 process.")

    def test_debian(self):
        self.walk("debian.md", BARE, ["libhearth_*.deb", "hearth_*.deb"], self.SERVED)

    def test_archive(self):
        self.walk("archive.md", WITH_GCC, ["hearth-*-linux-x86_64.tar.gz"], self.SERVED)

    def test_python(self):
        self.walk("python.md", PYTHON, ["hearth_openmp-*.whl"], ("'on_hearth': True", "<hearth.Recording run.db:"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
