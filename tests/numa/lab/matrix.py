"""Matrices of last-level-cache misses or pages, node of the core by home of the memory: their shares, as text, and as a picture."""
import dataclasses
import html
import statistics


class Repeated:
    """What was measured several times over: `matrices` has one of each repeat."""

    @property
    def shares(self):
        return [matrix.local_share for matrix in self.matrices]

    @property
    def share(self):
        return statistics.median(self.shares)


@dataclasses.dataclass
class Matrix:
    title: str              # what ran, and after a colon on which runtime
    memory: list            # rows: node of the core; columns: home of the memory
    what: str = "misses that memory serves"

    @property
    def total(self):
        return sum(map(sum, self.memory))

    @property
    def local_share(self):
        local = sum(self.memory[node][node] for node in range(len(self.memory)))
        return local / self.total if self.total else 0.0

    @property
    def busiest_share(self):
        """The part of the node whose memory answers most."""
        return max(map(sum, zip(*self.memory))) / self.total if self.total else 0.0

    @property
    def runtime(self):
        return self.title.rpartition(": ")[2]

    @property
    def case(self):
        return self.title.rpartition(": ")[0]

    def part(self, row, column):
        return self.memory[row][column] / self.total if self.total else 0.0

    def remote_cost(self, distances):
        """Remote misses, each weighted by its distance relative to a local one; absolute."""
        nodes = range(len(self.memory))
        return sum(self.memory[row][column] * distances[row][column] / 10 for row in nodes for column in nodes
                   if row != column)


def percent(share):
    return f"{100 * share:.1f} %"


def as_text(matrix):
    nodes = range(len(matrix.memory))
    width = max(len(str(value)) for row in matrix.memory for value in row) + 2
    lines = [matrix.title, "  core \\ memory" + "".join(f"{node:>{width}}" for node in nodes)]
    lines += [f"  {node:>13}" + "".join(f"{value:>{width}}" for value in matrix.memory[node]) for node in nodes]
    return "\n".join([*lines, f"  {percent(matrix.local_share)} of {matrix.total} misses are local", ""])


# Backgrounds of the terminal's 256 colours from pale to deep; every cell sets its foreground too, so that it can be read on
# dark and on light terminals.
_SHADES = (255, 189, 153, 111, 69, 27, 19)
_BLACK, _WHITE, _FIRST_DEEP_SHADE = 16, 231, 4
_LABEL = "core of node"


def _cell(part, heaviest, colour):
    text = f"{100 * part:3.0f} " if part >= 0.005 else "    " if colour else "  . "
    if not colour:
        return text
    # Half a per cent and less is nothing; what is left of the scale goes by the square root, or a sixty-fourth were invisible.
    shade = round((part / heaviest) ** 0.5 * (len(_SHADES) - 1)) if heaviest else 0
    return f"\033[48;5;{_SHADES[shade]};38;5;{_WHITE if shade >= _FIRST_DEEP_SHADE else _BLACK}m{text}\033[0m"


def heaviest_part(matrices):
    return max((value / matrix.total for matrix in matrices if matrix.total for row in matrix.memory for value in row),
               default=0)


def side_by_side(row, colour=False, heaviest=None):
    """One case's matrices beside each other, each cell its per cent of that matrix's misses, and the local shares below."""
    heaviest = heaviest_part(row) if heaviest is None else heaviest
    nodes = range(len(row[0].memory))
    bold, plain = ("\033[1m", "\033[0m") if colour else ("", "")
    left, gap = len(_LABEL) + 3, " " * 6
    side = max(4 * len(nodes), *(len(matrix.runtime) for matrix in row), len("100.0 % local"))

    def line(label, texts):
        """A label, and a text as wide as a matrix for each of them."""
        return "  " + label.rjust(left - 2) + gap.join(" " + text for text in texts)

    def centred(text, mark=""):
        return mark + text.center(side) + (plain if mark else "")

    def cells(texts):
        return "".join(texts) + " " * (side - 4 * len(nodes))

    def lines():
        yield f"  {bold}{row[0].case}{plain}"
        yield line("", [centred(matrix.runtime, bold) for matrix in row])
        yield line("memory of node", [cells(f"{node:3} " for node in nodes) for _ in row])
        for node in nodes:
            yield line(f"{_LABEL} {node}" if node == 0 else str(node),
                       [cells(_cell(matrix.part(node, home), heaviest, colour) for home in nodes) for matrix in row])
        yield line("", [centred(f"{percent(matrix.local_share)} local", bold) for matrix in row])
    return "\n".join(text.rstrip() for text in lines()) + "\n"


_CELL, _GAP, _HEADING, _TOP, _LEFT, _BOTTOM = 34, 70, 34, 86, 56, 72
# A card of its own colour, so that it can be read on any page. Cells are one blue over the card, by opacity: that works on both.
_STYLE = """text{font-family:system-ui,sans-serif;text-anchor:middle;fill:#223}
.card{fill:#fff;stroke:#d0d7de}.cell{fill:#0b4fa8}
.heading{font-size:16px;font-weight:600}.title{font-size:14px;font-weight:600}.case{font-size:12px}.axis{font-size:11px;fill:#556}
.share{font-size:22px;font-weight:700}.number{font-size:10px;fill:#234}.deep{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.card{fill:#0d1117;stroke:#30363d}.cell{fill:#4d9bff}.axis{fill:#9aa7b4}
.number{fill:#c9d6e4}.deep{fill:#06101f}}"""
_FAINTEST = 0.07


def _panel(matrix, left, top, heaviest):
    count = len(matrix.memory)
    side = count * _CELL
    middle = left + side / 2
    text = [f'<text x="{middle}" y="{top - 60}" class="title">{html.escape(matrix.runtime)}</text>',
            f'<text x="{middle}" y="{top - 42}" class="case">{html.escape(matrix.case)}</text>',
            f'<text x="{middle}" y="{top - 22}" class="axis">home of the memory</text>',
            f'<text transform="translate({left - 26} {top + side / 2}) rotate(-90)" class="axis">node of the core</text>']
    for node in range(count):
        at = (node + 0.5) * _CELL
        text.append(f'<text x="{left + at}" y="{top - 7}" class="axis">{node}</text>')
        text.append(f'<text x="{left - 11}" y="{top + at + 4}" class="axis">{node}</text>')
    for row in range(count):
        for column in range(count):
            share = matrix.part(row, column)
            part = share / heaviest if heaviest else 0
            x, y = left + column * _CELL, top + row * _CELL
            text.append(f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" class="cell" '
                        f'fill-opacity="{_FAINTEST + (1 - _FAINTEST) * part:.3f}"><title>core of node {row}, memory of '
                        f'node {column}: {matrix.memory[row][column]:,}</title></rect>')
            if share >= 0.005:
                text.append(f'<text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" '
                            f'class="number{" deep" if part > 0.5 else ""}">{100 * share:.0f}</text>')
    text.append(f'<text x="{middle}" y="{top + side + 30}" class="share">{percent(matrix.local_share)} local</text>')
    text.append(f'<text x="{middle}" y="{top + side + 50}" class="axis">of {matrix.total:,} {html.escape(matrix.what)}</text>')
    return text


def as_svg(rows, heading):
    """Rows of matrices side by side, one scale for all: a cell's colour and number are its per cent of that matrix's misses."""
    matrices = [matrix for row in rows for matrix in row]
    side = max(len(matrix.memory) for matrix in matrices) * _CELL
    width = _LEFT + max(map(len, rows)) * (side + _GAP) - _GAP + 20
    tall = _TOP + side + _BOTTOM
    height = _HEADING + len(rows) * tall
    heaviest = heaviest_part(matrices)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" role="img">',
             f"<title>{html.escape(heading)}</title>", f"<style>{_STYLE}</style>",
             f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" class="card"/>',
             f'<text x="{width / 2}" y="24" class="heading">{html.escape(heading)}</text>']
    for place, row in enumerate(rows):
        for column, matrix in enumerate(row):
            lines += _panel(matrix, _LEFT + column * (side + _GAP), _HEADING + place * tall + _TOP, heaviest)
    return "\n".join([*lines, "</svg>", ""])
