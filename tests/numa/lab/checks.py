"""`run test`: on each machine, what the kernel's calls on pages really do, and whether Hearth sees the machine as it is.

A program in programs/ becomes a test by lines in its head, each a case of its own (in Fortran behind a "!"):

    // numa-test [name=CASE] [topologies=8x1,4x4,...] [compilers=gcc,clang,g++,clang++] [link=hearth] [refuse=mbind,move_pages]
    //           [cpus=LIST nodes=LIST] [memory=SIZE] [time="QUOTA PERIOD"] [before=WORDS]
    //           [huge-pages=never|madvise|always] [balancing=on] [args=WORDS] [seconds=LIMIT] [VARIABLE=value ...]

`refuse` runs it under a seccomp filter that answers EPERM to these calls; `cpus`, `nodes`, `memory` and `time` in a cgroup
with these limits; `before` by another command (taskset, numactl); `link` links with libhearth, whose folder is in
LD_LIBRARY_PATH of every program. A case passes when the program ends with 0. Huge pages and automatic balancing are off,
but for cases that ask for them.
"""
import dataclasses
import json
import re
import shlex

from . import machine, parts
from .topologies import TOPOLOGIES

PROGRAMS = parts.NUMA / "programs"
LIMITS = {"cpus": "cpuset.cpus", "nodes": "cpuset.mems", "memory": "memory.max", "time": "cpu.max"}
KEYS = {"name", "topologies", "compilers", "link", "refuse", "huge-pages", "balancing", "args", "seconds", "before", *LIMITS}


@dataclasses.dataclass
class Check:
    """A job and how to judge its result: judge(result) returns what is wrong with it, or nothing."""
    job: machine.Job
    judge: object


class BadDirective(Exception):
    pass


def directives(source):
    """The cases that the head of a program asks for, as dictionaries."""
    cases = []
    for line in source.read_text().splitlines():
        match = re.match(r"(?://|!) numa-test\b(.*)", line)
        if not match:
            continue
        case = {"environment": {}}
        for word in shlex.split(match.group(1)):
            key, equals, value = word.partition("=")
            if not equals or not (key in KEYS or re.fullmatch(r"[A-Z][A-Z0-9_]*", key)):
                raise BadDirective(f"{source.name}: \"{word}\"; legal: {', '.join(sorted(KEYS))}, VARIABLE=value")
            if key in KEYS:
                case[key] = value
            else:
                case["environment"][key] = value
        unknown = set(case.get("topologies", "8x1").split(",")) - set(TOPOLOGIES)
        if unknown or ("cpus" in case) != ("nodes" in case):
            raise BadDirective(f"{source.name}: unknown topology {', '.join(unknown)}" if unknown
                               else f"{source.name}: cpus and nodes go together")
        unknown = set(case.get("compilers", "gcc").split(",")) - set(parts.COMPILERS)
        if unknown:
            raise BadDirective(f"{source.name}: unknown compiler {', '.join(unknown)}")
        cases.append(case)
    return cases


def in_group(limits, command):
    """A shell line that runs the command in a cgroup of its own (version 2) with these limits, by the names of its files."""
    group = "/sys/fs/cgroup/lab-$$"
    written = " && ".join(f"echo {shlex.quote(str(value))} > {group}/{name}" for name, value in limits.items())
    return (f"[ -e /sys/fs/cgroup/cgroup.procs ] || mount -t cgroup2 none /sys/fs/cgroup || exit 90; "
            f"echo +cpu +cpuset +memory > /sys/fs/cgroup/cgroup.subtree_control && mkdir {group} && {written} && "
            f"echo $$ > {group}/cgroup.procs || exit 91\n{command}")


def _switched(case, command):
    """Kernel switches for the time of one job."""
    huge = case.get("huge-pages", "never")
    balancing = 1 if case.get("balancing") == "on" else 0
    return (f"echo {huge} > /sys/kernel/mm/transparent_hugepage/enabled || exit 92\n"
            f"echo {balancing} > /proc/sys/kernel/numa_balancing || exit 93\n{command}")


def _passed(result):
    if result.timed_out:
        return f"no end after {result.job.limit_s} s"
    return f"exit status {result.status}" if result.status else None


def sources():
    return sorted([*PROGRAMS.glob("*.c"), *PROGRAMS.glob("*.f90")])


def _program_checks(topology, hearth):
    for source in sources():
        for case in directives(source):
            if topology.name not in case.get("topologies", topology.name).split(","):
                continue
            for compiler in case.get("compilers", "gfortran" if source.suffix == ".f90" else "gcc").split(","):
                yield _program_check(source, case, compiler, hearth)


def _program_check(source, case, compiler, hearth):
    libraries = [f"-L{hearth.library}", "-lhearth"] if case.get("link") == "hearth" else []
    words = [str(parts.program(source, compiler, libraries)), *shlex.split(case.get("args", ""))]
    words = [*shlex.split(case.get("before", "")), *words]
    if "refuse" in case:
        words = [str(parts.program(PROGRAMS / "refuse.c")), case["refuse"], "--", *words]
    command = shlex.join(words)
    limits = {file: case[key] for key, file in LIMITS.items() if key in case}
    if limits:
        command = in_group(limits, command)
    name = f"{source.stem}{'/' + case['name'] if 'name' in case else ''}"
    if "compilers" in case or compiler == "gfortran":
        name += f"/{compiler}"
    environment = {"LD_LIBRARY_PATH": str(hearth.library), **case["environment"]}
    return Check(machine.Job(name, _switched(case, command), environment, int(case.get("seconds", 120))), _passed)


def numbers(text):
    """"0-2,5" as [0, 1, 2, 5]."""
    result = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        result += range(int(first), int(last or first) + 1)
    return result


def wrong_topology(seen, topology, cpus=None, memory_nodes=None):
    """What `hearth topo --json` says against what was booted and allowed; None, or the first difference."""
    cpus = list(range(topology.cpu_count)) if cpus is None else cpus
    memory_nodes = topology.homes if memory_nodes is None else memory_nodes
    located = [node for node in range(topology.nodes)
               if set(topology.cpus_of(node)) & set(cpus) or node in memory_nodes]
    nodes = {node["number"]: node for node in seen["nodes"]}
    expected = [
        ("source", seen["source"], "sysfs"),
        ("CPUs", numbers(seen["detected"]["cpus"]), list(range(topology.cpu_count))),
        ("allowed CPUs", numbers(seen["allowed"]["cpus"]), cpus),
        ("allowed memory", numbers(seen["allowed"]["memory_nodes"]), memory_nodes),
        ("team size", seen["default_team_size"], len(cpus)),
        ("packages", len(seen["packages"]), topology.sockets),
        ("nodes", sorted(nodes), list(range(topology.nodes))),
        ("locations", [seen["nodes"][location["node"]]["number"] for location in seen["locations"]], located),
        ("distances", seen["distances"]["locations"],
         [[topology.distances[row][column] for column in located] for row in located]),
    ]
    for node in range(topology.nodes):
        mib = topology.mib_per_node[node]
        expected += [(f"node {node}'s CPUs", numbers(nodes[node]["cpus"]), topology.cpus_of(node)),
                     (f"node {node} has memory", nodes[node]["has_memory"], mib > 0),
                     (f"node {node}'s memory", 0.7 * mib <= nodes[node]["memory_bytes"] / 2**20 <= mib, True)]
    for what, got, wanted in expected:
        if got != wanted:
            return f"{what}: {got}, expected {wanted}"
    return None


def _judge_topology(topology, cpus=None, memory_nodes=None):
    def judge(result):
        if _passed(result):
            return _passed(result)
        return wrong_topology(json.loads(result.out), topology, cpus, memory_nodes)
    return judge


def _topology_checks(topology, hearth):
    topo = f"{shlex.quote(str(hearth.command))} topo --json"
    yield Check(machine.Job("hearth topo", topo), _judge_topology(topology))
    last = topology.cpu_count - 1
    yield Check(machine.Job("hearth topo/taskset", f"taskset -c 1,{last} {topo}"),
                _judge_topology(topology, cpus=sorted({1, last})))
    bound = topology.homes[1:]
    yield Check(machine.Job("hearth topo/numactl", f"numactl --membind={','.join(map(str, bound))} {topo}"),
                _judge_topology(topology, memory_nodes=bound))
    home = topology.homes[-1]
    cpus = topology.cpus_of(0) + topology.cpus_of(1)
    yield Check(machine.Job("hearth topo/cpuset", in_group({"cpuset.cpus": f"{cpus[0]}-{cpus[-1]}", "cpuset.mems": home}, topo)),
                _judge_topology(topology, cpus=cpus, memory_nodes=[home]))


def _llc_checks(topology, hearth):
    """Where a node has several last-level caches they can be the locations."""
    if topology.caches_per_node < 2:
        return

    def judge(result):
        if _passed(result):
            return _passed(result)
        seen = json.loads(result.out)
        nodes = [seen["nodes"][location["node"]]["number"] for location in seen["locations"]]
        wanted = [node for node in range(topology.nodes) for _ in range(topology.caches_per_node)]
        return None if nodes == wanted else f"the locations' nodes: {nodes}, expected {wanted}"
    yield Check(machine.Job("hearth topo/llc", f"{shlex.quote(str(hearth.command))} topo --json --location llc"), judge)


def _measured_model(topology, hearth):
    """`hearth topo --measure` makes a model of the machine that the simulator takes."""
    if topology.name != "8x1":
        return
    command = shlex.quote(str(hearth.command))
    yield Check(machine.Job("hearth topo/measured", f"{command} topo --measure --quick --write /tmp/measured.toml && "
                            f"{command} model check /tmp/measured.toml && "
                            f"{command} sim map --machine /tmp/measured.toml --seeds 2", limit_s=300), _passed)


def calibration(topology):
    """Proves the instrument on this machine: the first and the last CPU each write 64 lines to a page of the first node,
    to two pages of the second, and so on; as many misses must stand in the CPU's row, and next to none elsewhere."""
    program = parts.program(PROGRAMS / "calibration.c")
    for cpu in (0, topology.cpu_count - 1):
        job = machine.Job(f"calibration/cpu {cpu}", [program, cpu, 3, *topology.homes])
        yield Check(job, _judge_calibration(topology, topology.node_of_cpu[cpu]))


def _judge_calibration(topology, node):
    noise = 24  # lines of the stack and of the C library

    def judge(result):
        if _passed(result):
            return _passed(result)
        if len(result.regions) != 1:
            return f"{len(result.regions)} regions counted, expected 1"
        counted = result.regions[0]["memory"]
        for row in range(topology.nodes):
            for column in range(topology.nodes):
                wanted = 64 * (topology.homes.index(column) + 1) if row == node and column in topology.homes else 0
                if abs(counted[row][column] - wanted) > noise:
                    return f"core of node {row}, memory of node {column}: {counted[row][column]} misses, expected {wanted}"
        return None
    return judge


def checks(topology, hearth):
    """The calibration comes last: from its first region on the whole machine is instrumented, and slower."""
    return [*_topology_checks(topology, hearth), *_llc_checks(topology, hearth), *_measured_model(topology, hearth),
            *_program_checks(topology, hearth), *calibration(topology)]
