#!/usr/bin/env python3
"""The recipes, as far as they can be tried without their package managers: the modulefile is loaded by Lmod; what the Apptainer
definition and conda's scripts do is done in a clean system. Spack's recipe is only parsed.
"""
import ast
import os
import re
import subprocess
import tempfile
import unittest

from packages import OUT, Root, programs_into, system

RECIPES = OUT / "recipes"
LMOD = "/usr/share/lmod/lmod/init/bash"


class Recipes(unittest.TestCase):
    def archive(self):
        found = list(OUT.glob("hearth-*-linux-x86_64.tar.gz"))
        self.assertEqual(len(found), 1, "packaging/package tarball makes it")
        return found[0]

    @unittest.skipUnless(os.path.exists(LMOD), "no Lmod")
    def test_lmod_loads_the_module_and_takes_it_away(self):
        with tempfile.TemporaryDirectory() as folder:
            root = f"{folder}/prefix"
            os.makedirs(f"{folder}/modules/hearth")
            os.mkdir(root)
            subprocess.run(["tar", "-xf", self.archive(), "-C", root, "--strip-components=1"], check=True)
            text, found = re.subn(r'^local root = .*$', f'local root = "{root}"', (RECIPES / "lmod/hearth.lua").read_text(), flags=re.M)
            self.assertEqual(found, 1)
            with open(f"{folder}/modules/hearth/1.lua", "w") as file:
                file.write(text)
            done = subprocess.run(["bash", "-c", f". {LMOD}; module use {folder}/modules; module load hearth; hearth --version; "
                                   "pkg-config --variable=libdir hearth; module unload hearth; command -v hearth; echo $PKG_CONFIG_PATH"],
                                  capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": folder})
            lines = done.stdout.splitlines()
            self.assertRegex(lines[0], r"^hearth \d", done.stderr)
            self.assertEqual(os.path.normpath(lines[2]), f"{root}/lib/hearth")
            self.assertEqual(lines[3:], [""], "nothing is left")

    def test_what_the_apptainer_definition_does(self):
        text = (RECIPES / "apptainer/hearth.def").read_text()
        section = {name: re.search(rf"^%{name}\n(.*?)(?=^%|\Z)", text, re.M | re.S)[1] for name in
                   ("files", "post", "environment", "runscript", "test")}
        source, target = section["files"].split()
        self.assertEqual(source, self.archive().name)
        with Root(system()) as root:
            programs_into(root)
            root.put(self.archive(), target)
            root.shell(section["post"])
            self.assertRegex(root.shell(section["environment"] + section["test"]), r"hearth \d")
            root.shell("gcc -fopenmp programs/sum.c -o sum")
            root.write("/root/run.sh", section["environment"] + section["runscript"])
            self.assertEqual(root.shell("sh /root/run.sh ./sum"), "499510\n")

    def test_condas_libgomp_is_hearth(self):
        with Root(system()) as root:
            programs_into(root)
            root.put(self.archive(), "/tmp/hearth.tar.gz")
            root.put(RECIPES / "conda/mutex.sh", "/tmp/mutex.sh")
            # The layout of an environment: the output hearth is what the archive has.
            root.shell("mkdir /root/env && tar -xf /tmp/hearth.tar.gz -C /root/env --strip-components=1 && PREFIX=/root/env bash /tmp/mutex.sh")
            root.shell("gcc -fopenmp programs/sum.c -o sum -Wl,-rpath,/root/env/lib")
            told = root.shell("OMP_DISPLAY_ENV=verbose ./sum")
            self.assertIn("HEARTH", told)
            self.assertIn("499510", told)

    def test_condas_build_script(self):
        text = (RECIPES / "conda/meta.yaml").read_text()
        for script in re.findall(r"script: (\S+)", text):
            subprocess.run(["bash", "-n", RECIPES / "conda" / script], check=True)
        self.assertIn("string: 100_hearth", text)

    def test_spacks_recipe_is_python(self):
        tree = ast.parse((RECIPES / "spack/package.py").read_text())
        self.assertEqual([node.name for node in tree.body if isinstance(node, ast.ClassDef)], ["Hearth"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
