"""Matrices of last-level-cache misses, node of the core by home of the memory: their shares, as text, and as a picture."""
import dataclasses
import html


@dataclasses.dataclass
class Matrix:
    title: str      # what ran, and after a colon on which runtime
    memory: list    # rows: node of the core; columns: home of the memory

    @property
    def total(self):
        return sum(map(sum, self.memory))

    @property
    def local_share(self):
        local = sum(self.memory[node][node] for node in range(len(self.memory)))
        return local / self.total if self.total else 0.0

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


_CELL, _GAP, _HEADING, _TOP, _LEFT, _BOTTOM = 34, 70, 34, 86, 56, 72
_PALE, _DEEP = (240, 244, 250), (8, 64, 140)
_STYLE = """text{font-family:system-ui,sans-serif;text-anchor:middle;fill:#223}
.heading{font-size:16px;font-weight:600}.title{font-size:14px;font-weight:600}.case{font-size:12px}.axis{font-size:11px;fill:#556}
.share{font-size:22px;font-weight:700}.cell{font-size:10px;fill:#234}.deep{fill:#fff}"""


def _colour(part):
    return "#" + "".join(f"{round(pale + (deep - pale) * part):02x}" for pale, deep in zip(_PALE, _DEEP))


def _panel(matrix, left, top, heaviest):
    count = len(matrix.memory)
    side = count * _CELL
    middle = left + side / 2
    case, _, runtime = matrix.title.rpartition(": ")
    text = [f'<text x="{middle}" y="{top - 60}" class="title">{html.escape(runtime)}</text>',
            f'<text x="{middle}" y="{top - 42}" class="case">{html.escape(case)}</text>',
            f'<text x="{middle}" y="{top - 22}" class="axis">home of the memory</text>',
            f'<text transform="translate({left - 26} {top + side / 2}) rotate(-90)" class="axis">node of the core</text>']
    for node in range(count):
        at = (node + 0.5) * _CELL
        text.append(f'<text x="{left + at}" y="{top - 7}" class="axis">{node}</text>')
        text.append(f'<text x="{left - 11}" y="{top + at + 4}" class="axis">{node}</text>')
    for row in range(count):
        for column in range(count):
            share = matrix.memory[row][column] / matrix.total if matrix.total else 0
            part = share / heaviest if heaviest else 0
            x, y = left + column * _CELL, top + row * _CELL
            text.append(f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
                        f'fill="{_colour(part)}"><title>core of node {row}, memory of node {column}: '
                        f'{matrix.memory[row][column]:,} misses</title></rect>')
            if share >= 0.005:
                text.append(f'<text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" '
                            f'class="cell{" deep" if part > 0.5 else ""}">{100 * share:.0f}</text>')
    text.append(f'<text x="{middle}" y="{top + side + 30}" class="share">{percent(matrix.local_share)} local</text>')
    text.append(f'<text x="{middle}" y="{top + side + 50}" class="axis">of {matrix.total:,} misses that memory serves</text>')
    return text


def as_svg(rows, heading):
    """Rows of matrices side by side, one scale for all: a cell's colour and number are its per cent of that matrix's misses."""
    matrices = [matrix for row in rows for matrix in row]
    side = max(len(matrix.memory) for matrix in matrices) * _CELL
    width = _LEFT + max(map(len, rows)) * (side + _GAP) - _GAP + 20
    tall = _TOP + side + _BOTTOM
    height = _HEADING + len(rows) * tall
    heaviest = max((value / matrix.total for matrix in matrices if matrix.total for row in matrix.memory for value in row),
                   default=0)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" role="img">',
             f"<title>{html.escape(heading)}</title>", f"<style>{_STYLE}</style>",
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             f'<text x="{width / 2}" y="24" class="heading">{html.escape(heading)}</text>']
    for place, row in enumerate(rows):
        for column, matrix in enumerate(row):
            lines += _panel(matrix, _LEFT + column * (side + _GAP), _HEADING + place * tall + _TOP, heaviest)
    return "\n".join([*lines, "</svg>", ""])
