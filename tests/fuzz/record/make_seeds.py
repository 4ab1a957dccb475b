#!/usr/bin/env python3
"""Inputs from which the fuzzing of recordings begins: a small, right recording. Usage: make_seeds.py FOLDER"""
import pathlib
import struct
import sys

KINDS = ("none thread_begin thread_end task_create task_created task_switch dependences footprint implicit_begin implicit_end "
         "region_begin region_end wait_begin wait_end work_begin work_end chunk lock_wait counters forked stopped "
         "allocation moved place decision freed home block").split()


class Thread:
    def __init__(self, number):
        self.words, self.now, self.base = [], 1000, (number + 1) << 36

    def put(self, kind, *words):
        self.now += 100
        self.words += [KINDS.index(kind) | (1 + len(words)) << 8 | self.now << 16, *words]

    def bytes(self):
        return struct.pack(f"<{len(self.words)}Q", *self.words)


def recording():
    first, second = Thread(0), Thread(1)
    initial, region, implicit, task, other = (first.base + n for n in range(1, 6))
    worker = second.base + 1
    first.put("thread_begin", 1, 77)
    first.put("implicit_begin", 0, initial, 1 | 1 << 32, 1)
    first.put("region_begin", initial, region, 2 | 3 << 32, 0x401000)
    first.put("implicit_begin", region, implicit, 2, 2)
    first.put("work_begin", implicit, 0x401010 | 3 << 48, 1)
    for one in (task, other):
        first.put("task_create", implicit, one, 0x401020 | 4 << 48)
        first.put("dependences", one, 0x1000, 3, 0x2000, 1)
        first.put("footprint", one, 0x1000, 64, 1, 64, 3)
        first.put("task_created")
    first.put("work_end", implicit)
    first.put("wait_begin", implicit, 0x401030 | 3 << 48)
    first.put("task_switch", implicit | 7 << 52, task)
    first.put("counters", 10, 20, 30)
    first.put("task_switch", task | 1 << 52, implicit)
    first.put("wait_end", implicit)
    first.put("chunk", implicit | 3 << 52, 0, 8)
    first.put("lock_wait", 0x5000, 0x401040 | 1 << 48, 1000)
    first.put("implicit_end", implicit)
    first.put("region_end", region)
    first.put("forked")
    first.put("allocation", 0x1000, 4096, 0x401050, 900)
    first.put("moved", 2 | 1 << 8 | 1 << 16, 1, 0x1000)
    first.put("place", 2)
    first.put("decision", task, 1 | 1 << 16, 1 | 64 << 8, 64, 2 | 64 << 8, 0)
    first.put("home", 0x1000, 4096, 1)
    first.put("freed", 0x1000, first.now)
    first.put("block", 0x8000, 8192, 0x401060, first.now, 1 | 6 << 8)
    first.put("thread_end")
    second.put("thread_begin", 2, 78)
    second.put("implicit_begin", region, worker, 2 | 1 << 32, 2)
    second.put("wait_begin", worker, 9 << 48)
    second.put("task_switch", worker | 7 << 52, other)
    second.put("task_switch", other | 1 << 52, worker)
    second.put("wait_end", worker)
    second.put("implicit_end", worker)
    second.put("stopped", 28)
    return first.bytes(), second.bytes()


TEXT = (b"process 1 2\nruntime x\nclock 1000 1000 5\nnode 0 0-1\nmodule 400000 400000 500000 /a%20b\nuntold 0 footprint\n"
        b"slit 0 10\nmachine 1 model node slit locality m\nlocation 0 1 4096 0-1\nlocation 1 0 0 -\ndistances 0 10 20\n"
        b"latencies 0 800 0\nwhy 1 dealt\ndistribution 5 blocked\nblock 900 9000 1000 401060 6\nfreed 950 9000\n"
        b"thread 0 1\nclock 90001000 30001000 6\nend\n")
TEXT += b"\n" * (-len(TEXT) % 4)
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
spills = recording()
size = max(map(len, spills))
body = b"".join(spill.ljust(size, b"\0") for spill in spills)
for flags in (1, 3):
    (folder / f"whole{flags}").write_bytes(bytes([len(TEXT) // 4, flags, 0]) + TEXT + body)
