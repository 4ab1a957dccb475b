"""The machines that can be booted: nodes, CPUs, memory and distances, as QEMU takes them and as the kernel must show them."""
import dataclasses
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass(frozen=True)
class Topology:
    name: str
    title: str
    cpus_per_node: tuple      # CPUs are numbered node by node
    mib_per_node: tuple       # 0, or one size for all that have memory, a multiple of 128 MiB
    distances: tuple          # rows as in the SLIT
    sockets: int
    dies: int = 1             # per socket

    @property
    def nodes(self):
        return len(self.cpus_per_node)

    @property
    def cpu_count(self):
        return sum(self.cpus_per_node)

    @property
    def node_of_cpu(self):
        return [node for node, count in enumerate(self.cpus_per_node) for _ in range(count)]

    @property
    def caches_per_node(self):
        """Last-level caches: what Linux makes of QEMU's are one for each socket."""
        return max(1, self.sockets // sum(1 for count in self.cpus_per_node if count))

    def cpus_of(self, node):
        first = sum(self.cpus_per_node[:node])
        return list(range(first, first + self.cpus_per_node[node]))

    @property
    def homes(self):
        """Nodes that have memory."""
        return [node for node, mib in enumerate(self.mib_per_node) if mib]

    @property
    def home_mib(self):
        sizes = {mib for mib in self.mib_per_node if mib}
        if len(sizes) != 1:
            raise ValueError(f"{self.name}: the instrument needs nodes of one size")
        return sizes.pop()

    def qemu_arguments(self):
        cores = self.cpu_count // (self.sockets * self.dies)
        result = ["-m", f"{sum(self.mib_per_node)}M",
                  "-smp", f"{self.cpu_count},sockets={self.sockets},dies={self.dies},cores={cores},threads=1"]
        for node in range(self.nodes):
            entry = f"node,nodeid={node}"
            cpus = self.cpus_of(node)
            if cpus:
                entry += f",cpus={cpus[0]}-{cpus[-1]}"
            if self.mib_per_node[node]:
                result += ["-object", f"memory-backend-ram,id=memory{node},size={self.mib_per_node[node]}M"]
                entry += f",memdev=memory{node}"
            result += ["-numa", entry]
        for row in range(self.nodes):
            for column in range(self.nodes):
                if row != column:
                    result += ["-numa", f"dist,src={row},dst={column},val={self.distances[row][column]}"]
        return result

    def plugin_arguments(self):
        def dotted(numbers):
            return ".".join(map(str, numbers))
        return [f"cpus={dotted(self.node_of_cpu)}", f"homes={dotted(self.homes)}", f"mib={self.home_mib}"]


def _opteron_distances():
    """Of the machine on which the paper was measured; the project's model file has them."""
    with open(ROOT / "models" / "opteron-6172x4.toml", "rb") as file:
        return tuple(map(tuple, tomllib.load(file)["distance"]["slit"]))


def _flat(nodes, remote):
    return tuple(tuple(10 if row == column else remote for column in range(nodes)) for row in range(nodes))


def _dies(sockets, dies, near, far):
    """A node per die: `near` within a socket, `far` between sockets."""
    nodes = range(sockets * dies)
    return tuple(tuple(10 if row == column else near if row // dies == column // dies else far for column in nodes)
                 for row in nodes)


TOPOLOGIES = {topology.name: topology for topology in (
    Topology("8x1", "8 nodes of one core, distances of the Opteron 6172 machine", (1,) * 8, (256,) * 8,
             _opteron_distances(), sockets=8),
    Topology("4x4", "4 nodes of four cores", (4,) * 4, (384,) * 4, _flat(4, 21), sockets=4),
    Topology("2x2x2", "2 sockets of two dies of two cores, a node per die", (2,) * 4, (384,) * 4,
             _dies(2, 2, 12, 32), sockets=2, dies=2),
    Topology("llcs", "2 nodes of two last-level caches, each of two cores", (4,) * 2, (512,) * 2, _flat(2, 20), sockets=4),
    # Linux numbers nodes with CPUs before those without, so that one stands last.
    Topology("holes", "node 1 has no memory, node 3 has no CPU", (2, 2, 2, 0), (512, 0, 512, 512),
             ((10, 16, 21, 24), (16, 10, 21, 24), (21, 21, 10, 28), (24, 24, 28, 10)), sockets=3),
    Topology("2x1", "2 nodes of one core, each with room for 1 GiB", (1,) * 2, (1280,) * 2, _flat(2, 20), sockets=2),
)}
