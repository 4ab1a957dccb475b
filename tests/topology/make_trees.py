#!/usr/bin/env python3
"""Writes the recorded machines that the topology tests read: trees/NAME.tar.gz, one tree of /sys and /proc files each.

No such machine is at hand where the tests run, so the trees are made from a description of each machine, in the files and the
formats that the kernel has (documentation: Documentation/ABI/stable/sysfs-devices-node, .../testing/sysfs-devices-system-cpu,
Documentation/admin-guide/cgroup-v{1,2}.rst). hwloc reads every one of them too, and a test compares.

  make_trees.py           write all of them
  make_trees.py --check   fail if what lies in trees/ is not what would be written
"""
import argparse
import gzip
import io
import pathlib
import sys
import tarfile

TREES = pathlib.Path(__file__).resolve().parent / "trees"
CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def as_list(numbers):
    """The kernel's list format: 0-3,8"""
    numbers = sorted(numbers)
    parts = []
    i = 0
    while i < len(numbers):
        j = i
        while j + 1 < len(numbers) and numbers[j + 1] == numbers[j] + 1:
            j += 1
        parts.append(str(numbers[i]) if i == j else f"{numbers[i]}-{numbers[j]}")
        i = j + 1
    return ",".join(parts)


def as_map(numbers, possible):
    """The kernel's mask format: hexadecimal words of 32 bits, the highest first"""
    words = max(1, -(-possible // 32))
    value = sum(1 << n for n in numbers)
    return ",".join(f"{value >> (32 * w) & 0xFFFFFFFF:08x}" for w in reversed(range(words)))


class Cpu:
    def __init__(self, number, package, core, node, caches, die=0, kind=None):
        self.number = number
        self.package = package
        self.core = core        # unique within the package
        self.node = node
        self.caches = caches    # (level, type, KiB, key): those with equal level, type and key are one cache
        self.die = die
        self.kind = kind


class Tree:
    """One machine. files() gives its tree; the fields may be changed before."""

    def __init__(self, cpus, nodes, slit, possible=None, offline=(), vendor="GenuineIntel", model="Model", numa=True,
                 old_names=False):
        self.cpus = cpus
        self.nodes = nodes      # number -> KiB of memory
        self.slit = slit        # rows in the order of the nodes' numbers
        self.offline = list(offline)
        self.possible = possible or max([c.number for c in cpus] + self.offline) + 1
        self.vendor = vendor
        self.model = model
        self.numa = numa
        self.old_names = old_names
        self.allowed = [c.number for c in cpus]
        self.mems = sorted(nodes)
        self.extra = {}
        self.cgroup = "0::/user.slice/session-1.scope\n"
        self.mounts = [("cgroup2", "/", "/sys/fs/cgroup", "rw,nsdelegate")]

    def files(self):
        files = {}
        online = [c.number for c in self.cpus]
        files[f"{CPU}/online"] = as_list(online)
        files[f"{CPU}/offline"] = as_list(self.offline)
        files[f"{CPU}/present"] = as_list(online + self.offline)
        files[f"{CPU}/possible"] = f"0-{self.possible - 1}"
        files[f"{CPU}/kernel_max"] = "8191"
        for cpu in self.offline:
            files[f"{CPU}/cpu{cpu}/online"] = "0"
        for cpu in self.cpus:
            self.cpu_files(files, cpu)
        if self.numa:
            self.node_files(files)
        self.proc_files(files)
        files.update(self.extra)
        return {name: text if text == "" or text.endswith("\n") else text + "\n" for name, text in files.items()}

    def cpu_files(self, files, cpu):
        folder = f"{CPU}/cpu{cpu.number}"
        if cpu.number != 0:
            files[f"{folder}/online"] = "1"
        topology = f"{folder}/topology"
        files[f"{topology}/core_id"] = str(cpu.core)
        files[f"{topology}/physical_package_id"] = str(cpu.package)
        siblings = [c.number for c in self.cpus if (c.package, c.core) == (cpu.package, cpu.core)]
        package = [c.number for c in self.cpus if c.package == cpu.package]
        die = [c.number for c in self.cpus if (c.package, c.die) == (cpu.package, cpu.die)]
        groups = [("thread_siblings", siblings), ("core_siblings", package)]
        if not self.old_names:
            groups += [("core_cpus", siblings), ("package_cpus", package), ("die_cpus", die)]
            files[f"{topology}/die_id"] = str(cpu.die)
        for name, members in groups:
            files[f"{topology}/{name}"] = as_map(members, self.possible)
            files[f"{topology}/{name}_list"] = as_list(members)
        for index, (level, kind, kib, key) in enumerate(cpu.caches):
            cache = f"{folder}/cache/index{index}"
            shared = [c.number for c in self.cpus if (level, kind, kib, key) in c.caches]
            files[f"{cache}/level"] = str(level)
            files[f"{cache}/type"] = kind
            files[f"{cache}/size"] = f"{kib}K"
            files[f"{cache}/coherency_line_size"] = "64"
            files[f"{cache}/ways_of_associativity"] = "16"
            files[f"{cache}/number_of_sets"] = str(kib * 1024 // 64 // 16)
            files[f"{cache}/physical_line_partition"] = "1"
            files[f"{cache}/shared_cpu_map"] = as_map(shared, self.possible)
            files[f"{cache}/shared_cpu_list"] = as_list(shared)

    def node_files(self, files):
        numbers = sorted(self.nodes)
        files[f"{NODE}/online"] = as_list(numbers)
        files[f"{NODE}/possible"] = f"0-{max(numbers)}"
        files[f"{NODE}/has_cpu"] = as_list({c.node for c in self.cpus})
        files[f"{NODE}/has_memory"] = as_list(n for n in numbers if self.nodes[n])
        files[f"{NODE}/has_normal_memory"] = as_list(n for n in numbers if self.nodes[n])
        for row, number in enumerate(numbers):
            members = [c.number for c in self.cpus if c.node == number]
            folder = f"{NODE}/node{number}"
            files[f"{folder}/cpulist"] = as_list(members)
            files[f"{folder}/cpumap"] = as_map(members, self.possible)
            files[f"{folder}/distance"] = " ".join(str(d) for d in self.slit[row])
            files[f"{folder}/meminfo"] = f"Node {number} MemTotal:       {self.nodes[number]} kB"

    def hmat(self, node, initiators, read_ns, write_ns, read_mbs, write_mbs, levels=("access0", "access1")):
        for level in levels:
            folder = f"{NODE}/node{node}/{level}/initiators"
            self.extra[f"{folder}/read_latency"] = str(read_ns)
            self.extra[f"{folder}/write_latency"] = str(write_ns)
            self.extra[f"{folder}/read_bandwidth"] = str(read_mbs)
            self.extra[f"{folder}/write_bandwidth"] = str(write_mbs)
            for initiator in initiators:
                # A link on the machine; that it is there is what counts.
                self.extra[f"{folder}/node{initiator}/cpulist"] = ""

    def proc_files(self, files):
        files["proc/self/status"] = (
            f"Name:\tprogram\nCpus_allowed:\t{as_map(self.allowed, self.possible)}\n"
            f"Cpus_allowed_list:\t{as_list(self.allowed)}\n"
            f"Mems_allowed:\t{as_map(self.mems, 64)}\nMems_allowed_list:\t{as_list(self.mems)}\n")
        files["proc/self/cgroup"] = self.cgroup
        lines = ["21 28 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw"]
        mounts = ["sysfs /sys sysfs rw,relatime 0 0"]
        for i, (kind, root, point, options) in enumerate(self.mounts):
            lines.append(f"{30 + i} 21 0:{26 + i} {root} {point} rw,nosuid,nodev,noexec,relatime shared:{8 + i} - {kind} cgroup {options}")
            mounts.append(f"cgroup {point} {kind} {options},nosuid,nodev,noexec,relatime 0 0")
        files["proc/self/mountinfo"] = "\n".join(lines) + "\n"
        files["proc/mounts"] = "\n".join(mounts) + "\n"
        total = sum(self.nodes.values())
        files["proc/meminfo"] = f"MemTotal:       {total} kB\nHugepagesize:       2048 kB\n"
        text = ""
        for cpu in self.cpus:
            text += f"processor\t: {cpu.number}\n"
            if self.vendor:
                text += f"vendor_id\t: {self.vendor}\nmodel name\t: {self.model}\nphysical id\t: {cpu.package}\ncore id\t\t: {cpu.core}\n"
            text += "\n"
        files["proc/cpuinfo"] = text


def private(l1, l2, key, l1i=None):
    return [(1, "Data", l1, key), (1, "Instruction", l1i or l1, key), (2, "Unified", l2, key)]


GIB = 1024 * 1024


def xeon_2_sockets():
    """Two sockets whose CPUs alternate, as some vendors number them: even ones on socket 0."""
    cpus = []
    for number in range(32):
        package = number % 2
        core = number // 2 % 8
        cpus.append(Cpu(number, package, core, package, private(32, 1024, (package, core)) + [(3, "Unified", 22528, package)]))
    return Tree(cpus, {0: 96 * GIB, 1: 96 * GIB}, [[10, 21], [21, 10]], model="Intel Xeon Silver")


def epyc_nps4():
    """Two sockets of 16 cores in eight caches, four nodes per socket. SMT siblings come last."""
    cpus = []
    for thread in range(2):
        for flat in range(32):
            package, core = divmod(flat, 16)
            node = package * 4 + core // 4
            ccx = package * 8 + core // 2
            cpus.append(Cpu(thread * 32 + flat, package, core, node,
                            private(32, 512, (package, core)) + [(3, "Unified", 16384, ccx)]))
    slit = [[10 if a == b else 12 if a // 4 == b // 4 else 32 for b in range(8)] for a in range(8)]
    return Tree(cpus, {n: 32 * GIB for n in range(8)}, slit, vendor="AuthenticAMD", model="AMD EPYC 7302 16-Core Processor",
                possible=128)


def sub_numa_clustering():
    """Two sockets, four nodes each; the kernel describes one L3 for the whole socket, which spans the nodes."""
    cpus = []
    for number in range(32):
        package, core = divmod(number, 16)
        cpus.append(Cpu(number, package, core, package * 4 + core // 4,
                        private(48, 2048, (package, core), 32) + [(3, "Unified", 61440, package)]))
    slit = [[10 if a == b else 12 if a // 4 == b // 4 else 21 for b in range(8)] for a in range(8)]
    return Tree(cpus, {n: 64 * GIB for n in range(8)}, slit, model="Intel Xeon Gold")


def cxl():
    """Two sockets with DRAM, two CPU-less nodes of CXL memory, with the firmware's latencies and bandwidths (HMAT)."""
    cpus = []
    for number in range(16):
        package, core = divmod(number, 8)
        cpus.append(Cpu(number, package, core, package,
                        private(48, 2048, (package, core), 32) + [(3, "Unified", 30720, package)]))
    tree = Tree(cpus, {0: 128 * GIB, 1: 128 * GIB, 2: 256 * GIB, 3: 256 * GIB},
                [[10, 21, 14, 24], [21, 10, 24, 14], [14, 24, 10, 26], [24, 14, 26, 10]], model="Intel Xeon Platinum")
    tree.hmat(0, [0], 110, 115, 250000, 220000)
    tree.hmat(1, [1], 110, 115, 250000, 220000)
    tree.hmat(2, [0], 250, 260, 48000, 40000)
    tree.hmat(3, [1], 250, 260, 48000, 40000)
    return tree


def hmat_complete():
    """One socket beside its CXL memory: the HMAT tells every way that there is, so distances come from latencies."""
    cpus = [Cpu(n, 0, n, 0, private(48, 2048, n, 32) + [(3, "Unified", 30720, 0)]) for n in range(4)]
    tree = Tree(cpus, {0: 64 * GIB, 1: 128 * GIB}, [[10, 14], [14, 10]], model="Intel Xeon")
    tree.hmat(0, [0], 100, 100, 200000, 180000)
    tree.hmat(1, [0], 250, 260, 48000, 40000, levels=("access0",))
    return tree


def memory_less():
    """Four dies, two of them without memory controllers (Threadripper 2990WX), under an old kernel."""
    cpus = []
    for thread in range(2):
        for flat in range(16):
            node = flat // 4
            cpus.append(Cpu(thread * 16 + flat, 0, flat, node,
                            private(32, 512, flat, 64) + [(3, "Unified", 8192, flat // 2)], die=node))
    slit = [[10, 16, 16, 16], [16, 10, 16, 16], [16, 16, 10, 16], [16, 16, 16, 10]]
    return Tree(cpus, {0: 32 * GIB, 1: 0, 2: 32 * GIB, 3: 0}, slit, vendor="AuthenticAMD",
                model="AMD Ryzen Threadripper 2990WX", old_names=True)


def holes():
    """POWER9-like: nodes 0, 8 and the memory of an accelerator as node 252; SMT4 with a core switched off, and the last thread
    of another."""
    cpus = []
    off = [4, 5, 6, 7, 19]
    for number in range(32):
        if number in off:
            continue
        package = number // 16
        core = number // 4
        cpus.append(Cpu(number, package * 8, core * 4, package * 8,
                        [(1, "Data", 32, core), (1, "Instruction", 32, core), (2, "Unified", 512, core // 2),
                         (3, "Unified", 10240, core // 2)]))
    tree = Tree(cpus, {0: 128 * GIB, 8: 128 * GIB, 252: 16 * GIB}, [[10, 40, 80], [40, 10, 80], [80, 80, 10]], possible=64,
                offline=off, vendor=None)
    return tree


def hybrid():
    """Three kinds of cores: 4 performance cores with 2 threads, 8 efficiency cores in clusters of four that share an L2, and 2
    low-power cores without any L3 (Meteor Lake)."""
    cpus = []
    for number in range(8):
        core = number // 2
        cpus.append(Cpu(number, 0, core * 4, 0, private(48, 2048, ("p", core), 64) + [(3, "Unified", 24576, 0)], kind="core"))
    for number in range(8, 16):
        cpus.append(Cpu(number, 0, 16 + number, 0,
                        [(1, "Data", 32, number), (1, "Instruction", 64, number), (2, "Unified", 2048, ("e", (number - 8) // 4)),
                         (3, "Unified", 24576, 0)], kind="atom"))
    for number in range(16, 18):
        cpus.append(Cpu(number, 0, 64 + number, 0,
                        [(1, "Data", 32, number), (1, "Instruction", 64, number), (2, "Unified", 2048, "lp")], kind="lowpower"))
    tree = Tree(cpus, {0: 32 * GIB}, [[10]], model="Intel Core Ultra")
    for kind in ("core", "atom", "lowpower"):
        tree.extra[f"sys/devices/cpu_{kind}/cpus"] = as_list(c.number for c in cpus if c.kind == kind)
    return tree


def big_little():
    """An ARM telephone: three kinds of cores by cpu_capacity, a kernel without NUMA."""
    cpus = []
    for number in range(8):
        l2 = 128 if number < 4 else 256 if number < 7 else 512
        cpus.append(Cpu(number, 0, number, 0, private(64, l2, number) + [(3, "Unified", 4096, 0)]))
    tree = Tree(cpus, {0: 8 * GIB}, [[10]], vendor=None, numa=False)
    for number in range(8):
        capacity = 275 if number < 4 else 871 if number < 7 else 1024
        tree.extra[f"{CPU}/cpu{number}/cpu_capacity"] = str(capacity)
    return tree


def cppc():
    """An AMD processor of one kind of cores that are ranked by highest_perf: not several kinds."""
    cpus = [Cpu(n, 0, n, 0, private(32, 1024, n) + [(3, "Unified", 32768, 0)]) for n in range(4)]
    tree = Tree(cpus, {0: 16 * GIB}, [[10]], vendor="AuthenticAMD", model="AMD Ryzen 7")
    for number in range(4):
        tree.extra[f"{CPU}/cpu{number}/acpi_cppc/nominal_perf"] = "120"
        tree.extra[f"{CPU}/cpu{number}/acpi_cppc/highest_perf"] = str(236 - 10 * number)
    return tree


def small():
    """Eight cores on one node: the host of the container trees."""
    cpus = [Cpu(n, 0, n, 0, private(32, 1024, n) + [(3, "Unified", 16384, 0)]) for n in range(8)]
    return Tree(cpus, {0: 32 * GIB}, [[10]], model="Intel Xeon")


def container_v2():
    """Docker on cgroup v2: a namespace, so the process sees itself at the root of what is mounted. 3.5 CPUs."""
    tree = small()
    tree.cgroup = "0::/\n"
    tree.mounts = [("cgroup2", "/", "/sys/fs/cgroup", "ro,nsdelegate")]
    tree.extra["sys/fs/cgroup/cpu.max"] = "350000 100000"
    return tree


def container_v1():
    """Docker on cgroup v1 without a namespace: the path in /proc/self/cgroup is the host's, the mount shows our part. 1.5 CPUs."""
    tree = small()
    me = "/docker/6b1f0d5c"
    tree.cgroup = f"12:pids:{me}\n4:cpu,cpuacct:{me}\n3:cpuset:{me}\n1:name=systemd:{me}\n"
    tree.mounts = [("tmpfs", "/", "/sys/fs/cgroup", "ro,mode=755"),
                   ("cgroup", me, "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct"),
                   ("cgroup", me, "/sys/fs/cgroup/cpuset", "rw,cpuset")]
    tree.extra["sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "150000"
    tree.extra["sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us"] = "100000"
    tree.extra["sys/fs/cgroup/cpuset/cpuset.cpus"] = "0-7"
    tree.extra["sys/fs/cgroup/cpuset/cpuset.mems"] = "0"
    return tree


def nested_v2():
    """Kubernetes-like nesting seen from the host: the pod allows 4 CPUs, the slice above it 2.5, the container says max."""
    tree = small()
    pod = "/kubepods.slice/kubepods-pod1.slice"
    tree.cgroup = f"0::{pod}/cri-containerd-1.scope\n"
    tree.extra["sys/fs/cgroup/kubepods.slice/cpu.max"] = "250000 100000"
    tree.extra[f"sys/fs/cgroup{pod}/cpu.max"] = "40000 10000"
    tree.extra[f"sys/fs/cgroup{pod}/cri-containerd-1.scope/cpu.max"] = "max 100000"
    return tree


def nested_v1():
    """Nested v1 groups, the innermost the tightest, on a hybrid system whose v2 hierarchy has no cpu controller."""
    tree = small()
    tree.cgroup = "5:cpuacct,cpu:/outer/inner\n1:name=systemd:/\n0::/system.slice/x.service\n"
    tree.mounts = [("cgroup", "/", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct"),
                   ("cgroup2", "/", "/sys/fs/cgroup/unified", "rw,nsdelegate")]
    base = "sys/fs/cgroup/cpu,cpuacct"
    for folder, quota in (("", -1), ("/outer", 600000), ("/outer/inner", 75000)):
        tree.extra[f"{base}{folder}/cpu.cfs_quota_us"] = str(quota)
        tree.extra[f"{base}{folder}/cpu.cfs_period_us"] = "100000" if quota != 75000 else "25000"
    return tree


def slurm_cpuset():
    """A Slurm job on an EPYC node at NPS4: 10 CPUs on nodes 1 and 2, memory of those only, six cores in all."""
    tree = epyc_nps4()
    job = "/slurm/uid_1000/job_4711/step_0"
    tree.allowed = [4, 5, 6, 7, 8, 36, 37, 38, 39, 40]
    tree.mems = [1, 2]
    tree.cgroup = f"6:cpuset:{job}\n4:cpu,cpuacct:/\n"
    tree.mounts = [("cgroup", "/", "/sys/fs/cgroup/cpuset", "rw,cpuset"),
                   ("cgroup", "/", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct")]
    base = "sys/fs/cgroup/cpuset" + job
    tree.extra[f"{base}/cpuset.cpus"] = as_list(tree.allowed)
    tree.extra[f"{base}/cpuset.effective_cpus"] = as_list(tree.allowed)
    tree.extra[f"{base}/cpuset.mems"] = as_list(tree.mems)
    tree.extra[f"{base}/cpuset.effective_mems"] = as_list(tree.mems)
    return tree


MACHINES = {
    "xeon-2-sockets": xeon_2_sockets,
    "epyc-nps4": epyc_nps4,
    "sub-numa-clustering": sub_numa_clustering,
    "cxl": cxl,
    "hmat-complete": hmat_complete,
    "memory-less": memory_less,
    "holes": holes,
    "hybrid": hybrid,
    "big-little": big_little,
    "cppc": cppc,
    "container-v1": container_v1,
    "container-v2": container_v2,
    "nested-v1": nested_v1,
    "nested-v2": nested_v2,
    "slurm-cpuset": slurm_cpuset,
}


def archive(files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            content = files[name].encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as out:
        out.write(raw.getvalue())
    return packed.getvalue()


def stored(path):
    files = {}
    with tarfile.open(path, "r:gz") as tar:
        for member in tar:
            files[member.name] = tar.extractfile(member).read().decode()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what lies in trees/, write nothing")
    check = parser.parse_args().check
    different = []
    for name, make in MACHINES.items():
        files = make().files()
        path = TREES / f"{name}.tar.gz"
        if check:
            if not path.exists() or stored(path) != files:
                different.append(name)
            continue
        TREES.mkdir(exist_ok=True)
        path.write_bytes(archive(files))
        print(f"{name}: {len(files)} files, {path.stat().st_size} bytes")
    if different:
        sys.exit(f"make_trees.py: not up to date: {', '.join(different)}; run tests/topology/make_trees.py")


if __name__ == "__main__":
    main()
