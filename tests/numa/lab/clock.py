"""`run time`: a machine whose time means something: memory takes as long as a model file says, all times dilated.

plugin/timed_memory.c lets virtual CPUs sleep for what their program does; this file tells it how long that is on the
modelled machine. Times by the guest's clock, divided by the dilation, are modelled times.
"""
import collections
import dataclasses
import json
import os
import re
import tomllib

from . import forest, machine, parts
from .topologies import ROOT, TOPOLOGIES

MODEL = ROOT / "models" / "opteron-8347hex4.toml"
MACHINE = "4x4"
KERNEL = ["transparent_hugepage=never", "numa_balancing=disable", "nokaslr", "tsc=reliable", "lpj=4000000", "nowatchdog",
          "rcupdate.rcu_expedited=1", "cryptomgr.notests", "random.trust_cpu=on"]
# What the kernel does once for each call that moves pages, and for each page.
MIGRATION = ("migrate_pages", "folio_migrate_copy")


@dataclasses.dataclass(frozen=True)
class Pace:
    dilation: int = 1000
    window_us: int = 500      # a CPU's clock is so far ahead of the host's before it sleeps
    credit_us: int = 20000    # and so far behind before it counts as late
    caches_kib: tuple = (32, forest.L2_KIB, forest.LLC_KIB)


def _figure(entry):
    return entry["value"] if isinstance(entry, dict) else entry


class Model:
    """The figures of a model file that the plugin takes, in nanoseconds and GB/s of the modelled machine."""

    def __init__(self, path=MODEL):
        with open(path, "rb") as file:
            tables = tomllib.load(file)
        simulator = tables["simulator"]
        self.name = tables["name"]
        self.read_ns = tables["latency"]["read_ns"]
        self.write_ns = tables["latency"]["write_ns"]
        self.nodes = len(self.read_ns)
        self.clock_ghz = _figure(simulator["clock_ghz"])
        self.node_gbs = _figure(simulator["memory_gbs"])
        self.remote_occupancy = _figure(simulator["remote_occupancy"])
        self.write_occupancy = _figure(simulator["write_occupancy"])
        self.coherence_gbs = _figure(simulator["coherence_gbs"]) if "coherence_gbs" in simulator else None
        self.llc_ns = _figure(simulator["llc_ns"])
        patterns = simulator["patterns"]
        self.in_flight, self.overlap = _figure(patterns["stream"]["misses_in_flight"]), _figure(patterns["stream"]["overlap"])
        self.strided_in_flight = _figure(patterns["strided"]["misses_in_flight"])
        self.links = []  # directed: from, to, GB/s
        for group in simulator.get("links", ()):
            for one, other in group["pairs"]:
                self.links += [(one, other, _figure(group["gbs"])), (other, one, _figure(group["gbs"]))]
        migration = simulator["migration"]
        self.call_us, self.page_us = _figure(migration["move_pages_base_us"]), _figure(migration["move_pages_us"])
        self.routes = {(source, target): self._route(source, target)
                       for source in range(self.nodes) for target in range(self.nodes) if source != target}

    def _route(self, source, target):
        """The links of a shortest way, as the simulator finds it."""
        by = {source: None}
        queue = collections.deque([source])
        while queue:
            at = queue.popleft()
            for number, (one, other, _) in enumerate(self.links):
                if one == at and other not in by:
                    by[other] = number
                    queue.append(other)
        route = []
        while self.links and target != source:
            route.insert(0, by[target])
            target = self.links[by[target]][0]
        return route

    def words(self, topology, pace, kernel):
        lines = [("dilation", pace.dilation), ("window_us", pace.window_us), ("credit_us", pace.credit_us),
                 ("caches_kib", *pace.caches_kib), ("cpus", *topology.node_of_cpu), ("homes", *topology.homes),
                 ("mib", topology.home_mib), ("instruction_ps", 1000 / self.clock_ghz), ("pause_ps", 40000 / self.clock_ghz),
                 ("llc_ns", self.llc_ns), ("in_flight", self.in_flight), ("remote_occupancy", self.remote_occupancy),
                 ("write_occupancy", self.write_occupancy)]
        lines += [("read", node, home, self.read_ns[node][home]) for node in range(self.nodes) for home in range(self.nodes)]
        lines += [("write", node, home, self.write_ns[node][home]) for node in range(self.nodes) for home in range(self.nodes)]
        lines += [("node_gbs", node, self.node_gbs) for node in range(self.nodes)]
        lines += [("link_gbs", number, gbs) for number, (_, _, gbs) in enumerate(self.links)]
        lines += [("route", source, target, *route) for (source, target), route in self.routes.items() if route]
        lines += [("coherence_gbs", self.coherence_gbs)] if self.coherence_gbs else []
        if kernel:
            lines += [("migrate", *(address & 0xffffffff for address in kernel), self.call_us, self.page_us)]
        return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def kernel_addresses():
    """Where the kernel moves pages; asked of a machine once for each kernel."""
    kept = parts.OUTPUT / f"{parts.kernel().name}.migration.json"
    if parts.newer(kept, [parts.kernel() / "vmlinuz"]):
        return json.loads(kept.read_text())
    script = "cat /proc/kallsyms"
    result, = machine.run(TOPOLOGIES["2x1"], [machine.Job("kallsyms", script)], kernel_arguments=KERNEL)
    found = [re.search(rf"^([0-9a-f]+) T {name}$", result.out, re.MULTILINE) for name in MIGRATION]
    if not all(found):
        raise parts.MissingPart(f"the kernel has no {' or '.join(MIGRATION)}")
    addresses = [int(match.group(1), 16) for match in found]
    parts.write_whole(kept, json.dumps(addresses).encode())
    return addresses


def run(jobs, pace=Pace(), model=None, topology=None, on_boot=None, on_result=None, limit_s=3 * 3600):
    """Runs jobs in a machine that tells time; a Result per job, whose regions say how late its CPUs were."""
    model = model or Model()
    topology = topology or TOPOLOGIES[MACHINE]
    words = parts.OUTPUT / f"model.{os.getpid()}"
    words.write_text(model.words(topology, pace, kernel_addresses()))
    try:
        return machine.run(topology, jobs, kernel_arguments=KERNEL, on_boot=on_boot, on_result=on_result, limit_s=limit_s,
                           timed=words)
    finally:
        words.unlink()


def late_share(region):
    """Of the time of a region, how much the busiest CPU was behind: what emulation added to it."""
    return max(region["late_ns"]) / region["host_ns"]
