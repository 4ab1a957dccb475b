#!/usr/bin/env python3
"""`hearth memory`: the numbers of recorded files, exactly; and of this machine, as far as they must agree."""
import json
import os
import pathlib
import tempfile
import unittest

from common import hearth


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for node, free in ((0, 1024), (2, 3072)):
            self.write(f"sys/devices/system/node/node{node}/meminfo",
                       f"Node {node} MemTotal:  4096 kB\nNode {node} MemFree:  {free} kB\nNode {node} FilePages:  512 kB\n")
        self.write("proc/12/comm", "small\n")
        self.write("proc/12/numa_maps", "7f00 default anon=2 dirty=2 N0=1 N2=1 kernelpagesize_kB=4\n")
        self.write("proc/345/comm", "large program\n")
        self.write("proc/345/numa_maps",
                   "7f00 default file=/opt/lib/hearth/libhearth.so mapped=3 N0=3 kernelpagesize_kB=4\n"
                   "7f80 prefer:2 anon=2 dirty=2 N2=2 kernelpagesize_kB=2048\n"
                   "7f90 default\n7fa0 default N9=7 kernelpagesize_kB=4\n")
        self.write("proc/7/comm", "kernel thread\n")
        self.write("proc/7/numa_maps", "")
        self.write("proc/8/comm", "somebody else's\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def memory(self, *words):
        done = hearth("memory", "--replay", self.root, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_json(self):
        kib = 1024
        seen = json.loads(self.memory("--json"))
        self.assertEqual(seen["nodes"], [
            {"node": 0, "total_bytes": 4096 * kib, "used_bytes": 3072 * kib, "free_bytes": 1024 * kib, "file_cache_bytes": 512 * kib},
            {"node": 2, "total_bytes": 4096 * kib, "used_bytes": 1024 * kib, "free_bytes": 3072 * kib, "file_cache_bytes": 512 * kib}])
        self.assertEqual(seen["processes"], [
            {"pid": 345, "name": "large program", "on_hearth": True, "bytes": 4108 * kib, "bytes_by_node": [12 * kib, 4096 * kib]},
            {"pid": 12, "name": "small", "on_hearth": False, "bytes": 8 * kib, "bytes_by_node": [4 * kib, 4 * kib]}])
        self.assertEqual(seen["unreadable_processes"], 1)

    def test_text(self):
        lines = self.memory().splitlines()
        self.assertEqual(lines[2].split(), ["0", "4.0", "3.0", "1.0", "0.5"])
        self.assertEqual(lines[3].split(), ["2", "4.0", "1.0", "3.0", "0.5"])
        self.assertEqual(lines[7].split(), ["345*", "4.0", "0.0", "4.0", "large", "program"])
        self.assertIn("1 process cannot be read", lines[-1])

    def test_only_some_processes(self):
        seen = json.loads(self.memory("--json", "12"))
        self.assertEqual([process["pid"] for process in seen["processes"]], [12])
        done = hearth("memory", "--replay", self.root, "12", "8", "99")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("2 processes cannot be read", done.stderr)

    def test_many_processes_are_cut(self):
        for pid in range(1000, 1030):
            self.write(f"proc/{pid}/comm", "one\n")
            self.write(f"proc/{pid}/numa_maps", "7f00 default N0=9 kernelpagesize_kB=4\n")
        self.assertIn("12 processes smaller; --all shows them", self.memory())
        self.assertNotIn("smaller", self.memory("--all"))

    def test_a_folder_without_nodes(self):
        with tempfile.TemporaryDirectory() as empty:
            done = hearth("memory", "--replay", empty)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("tells of no node", done.stderr)


class Real(unittest.TestCase):
    def test_this_machine(self):
        if not os.path.exists("/sys/devices/system/node/node0/meminfo"):
            self.skipTest("the kernel has no nodes")
        done = hearth("memory", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        for node in seen["nodes"]:
            self.assertEqual(node["used_bytes"] + node["free_bytes"], node["total_bytes"])
        for process in seen["processes"]:
            self.assertEqual(sum(process["bytes_by_node"]), process["bytes"])
        if os.path.exists("/proc/self/numa_maps"):
            self.assertIn(os.getpid(), [process["pid"] for process in seen["processes"]])


if __name__ == "__main__":
    unittest.main(argv=["memory_test"])
