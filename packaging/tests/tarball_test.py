#!/usr/bin/env python3
"""The archive: unpacked anywhere it serves, also on an older distribution, and nothing of it is outside of its folder."""
import unittest

from packages import OUT, Root, programs_into, system

OLDER = ("bullseye", ("g++", "gfortran", "pkg-config", "cmake", "make"))  # glibc 2.31


class Archive(unittest.TestCase):
    def tried(self, lower, folder):
        archives = list(OUT.glob("hearth-*-linux-x86_64.tar.gz"))
        self.assertEqual(len(archives), 1, "packaging/package tarball makes it")
        with Root(lower) as root:
            programs_into(root)
            before = root.files()
            root.put(archives[0], "/tmp/hearth.tar.gz")
            root.shell(f'mkdir -p "{folder}" && tar -xf /tmp/hearth.tar.gz -C "{folder}" --strip-components=1')
            print(root.shell(f'sh /root/programs/try.sh /root/programs "{folder}/bin/hearth"', env={
                "PKG_CONFIG_PATH": f"{folder}/lib/pkgconfig", "CMAKE_PREFIX_PATH": folder}) if " " not in folder else
                root.shell(f'sh /root/programs/try.sh /root/programs "{folder}/bin/hearth" --no-development'))
            root.shell(f'rm -r "{folder}"')
            left = {path for path in root.files() ^ before if not path.startswith(folder.rsplit("/", 1)[0])}
            self.assertEqual(sorted(left), [])

    def test_from_a_folder(self):
        self.tried(system(), "/opt/hearth")

    def test_from_a_folder_with_spaces(self):
        self.tried(system(), "/srv/my programs")

    def test_on_an_older_distribution(self):
        self.tried(system(*OLDER), "/opt/hearth")


if __name__ == "__main__":
    unittest.main(verbosity=2)
