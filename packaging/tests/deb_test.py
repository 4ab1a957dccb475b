#!/usr/bin/env python3
"""The Debian packages in a clean root: lintian finds nothing, they install, serve and go away without a trace."""
import subprocess
import unittest

from packages import OUT, Root, programs_into, system


def debs(*names):
    found = []
    for name in names:
        paths = list(OUT.glob(f"{name}_*.deb"))
        assert len(paths) == 1, f"{name}: {paths}; packaging/package deb makes them"
        found.append(paths[0])
    return found


ALL = ("libhearth", "hearth", "hearth-cc", "libhearth-dev", "hearth-doc", "hearth-default")


class Debian(unittest.TestCase):
    def setUp(self):
        self.root = Root(system())
        self.addCleanup(self.root.__exit__)
        programs_into(self.root)

    def install(self, *names):
        for deb in debs(*names):
            self.root.put(deb, f"/tmp/{deb.name}")
        self.root.shell("apt-get update -q && apt-get install -y -q --no-install-recommends " +
                        " ".join(f"/tmp/{deb.name}" for deb in debs(*names)))

    def runtime_of(self, program, prefix=""):
        return self.root.shell(f"{prefix} ldd {program} | grep libgomp.so.1").split()[2]

    def test_lintian_finds_nothing(self):
        found = subprocess.run(["lintian", "--allow-root", "--tag-display-limit", "0", *OUT.glob("*.changes")],
                               capture_output=True, text=True)
        self.assertEqual((found.returncode, found.stdout.strip()), (0, ""), found.stderr)

    def test_install_use_and_remove_without_a_trace(self):
        before = self.root.files()
        self.install("libhearth", "hearth", "libhearth-dev", "hearth-doc")
        print(self.root.shell("sh /root/programs/try.sh /root/programs hearth"))
        self.root.shell("man -w hearth || test -e /usr/share/man/man1/hearth.1.gz; test -s /usr/share/doc/hearth-doc/README.md*")
        # Nobody else got another runtime by this.
        self.root.shell("gcc -fopenmp /root/programs/sum.c -o /root/sum")
        self.assertIn("/x86_64-linux-gnu/libgomp.so.1", self.runtime_of("/root/sum"))
        self.assertNotIn("hearth", self.runtime_of("/root/sum"))
        self.assertNotIn("hearth", self.root.shell("ldconfig -p"))
        self.root.shell("rm /root/sum; apt-get purge -y -q libhearth hearth libhearth-dev hearth-doc && apt-get autoremove -y -q --purge")
        self.assertEqual(sorted(self.root.files() ^ before), [])

    def test_the_default_of_the_machine_comes_and_goes(self):
        self.root.shell("gcc -fopenmp /root/programs/sum.c -o /root/sum")
        stock = self.runtime_of("/root/sum")
        self.install("libhearth", "hearth", "hearth-default")
        self.assertIn("/hearth/libgomp.so.1", self.runtime_of("/root/sum"))
        # What a test of its own must show: it is Hearth that answers, without the command.
        self.assertIn("HEARTH", self.root.shell("OMP_DISPLAY_ENV=verbose ./sum 2>&1"))
        self.root.shell("apt-get remove -y -q hearth-default")
        self.assertEqual(self.runtime_of("/root/sum"), stock)

    def test_the_default_of_one_user(self):
        self.root.shell("gcc -fopenmp /root/programs/sum.c -o /usr/local/bin/sum && useradd -m somebody && useradd -m other")
        self.install("libhearth")
        self.root.shell("echo 'export LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/hearth' >>/home/somebody/.profile")
        by = {user: self.root.shell(f"su - {user} -c 'ldd /usr/local/bin/sum' | grep libgomp.so.1") for user in ("somebody", "other")}
        self.assertIn("/hearth/", by["somebody"])
        self.assertNotIn("/hearth/", by["other"])

    def test_hearth_cc(self):
        self.install("libhearth", "hearth", "hearth-cc")
        self.root.write("/root/threads.c", "#include <pthread.h>\n#include <stdio.h>\nstatic void* work(void* x) { ++*(int*)x; return 0; }\n"
                        "int main(void) { pthread_t t; int x = 1; pthread_create(&t, 0, work, &x); pthread_join(t, 0); printf(\"%d\\n\", x); }\n")
        self.assertIn("2", self.root.shell("hearth-cc -O2 threads.c -o threads -lpthread && ./threads"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
