"""Plots as SVG text: bars around 1 on a logarithmic axis, and lines. No dependencies; readable on light and dark pages."""
import html
import math

# Distinguishable without colour vision, too (Okabe and Ito).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7f7f7f")
_STYLE = """text{font-family:system-ui,sans-serif;font-size:12px;fill:#223}.card{fill:#fff;stroke:#d0d7de}
.heading{font-size:16px;font-weight:600}.axis{stroke:#c4ccd4;stroke-width:1}.one{stroke:#556;stroke-width:1.5}
.band{stroke:#223;stroke-width:1.2}.small{font-size:10px}.middle{text-anchor:middle}.end{text-anchor:end}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.card{fill:#0d1117;stroke:#30363d}.axis{stroke:#30363d}.one{stroke:#9aa7b4}
.band{stroke:#e6edf3}}"""


def _text(x, y, what, kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{html.escape(str(what))}</text>'


def _line(x1, y1, x2, y2, kind, extra=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}" {extra}/>'


def _page(width, height, title, note, body):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        _text(24, 32, title, "heading"), _text(24, 52, note), *body, "</svg>", ""])


def _legend(names, left, y, width):
    """Keys in as many rows as they need; and where the last row ends."""
    parts, x = [], left
    for at, name in enumerate(names):
        room = 30 + 7.2 * len(name)
        if x + room > left + width:
            x, y = left, y + 20
        parts.append(f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="12" height="12" fill="{COLOURS[at % len(COLOURS)]}"/>')
        parts.append(_text(x + 18, y, name))
        x += room
    return parts, y


def _number(value):
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def _log_axis(lowest, highest):
    """Halves and doubles around everything."""
    return math.floor(math.log2(lowest * 0.999)), math.ceil(math.log2(highest * 1.001))


def _log_grid(first, last, y_of, left, right):
    for power in range(first, last + 1):
        value = 2.0 ** power
        yield _line(left, y_of(value), right, y_of(value), "one" if power == 0 else "axis")
        yield _text(left - 8, y_of(value) + 4, f"{value:g}", "end")


def bars(title, note, groups, series, cells):
    """cells[group][series]: {value, low, high} relative to 1, or nothing. Up is slower; whiskers are bands."""
    bar, gap, left, height = 28, 26, 64, 360
    width = left + len(groups) * (len(series) * bar + gap) + gap + 10
    legend, legend_end = _legend(series, left, 80, width - left - 20)
    top = legend_end + 24
    known = [cell for row in cells for cell in row if cell]
    first, last = _log_axis(min(1, *(cell["low"] for cell in known)), max(1, *(cell["high"] for cell in known)))

    def y_of(value):
        return top + height * (last - math.log2(value)) / (last - first)

    body = [*legend, *_log_grid(first, last, y_of, left, width - 20)]
    for at, (group, row) in enumerate(zip(groups, cells)):
        begin = left + gap + at * (len(series) * bar + gap)
        for number, cell in enumerate(row):
            if not cell:
                continue
            x, y, one = begin + number * bar, y_of(cell["value"]), y_of(1)
            body.append(f'<rect x="{x + 2:.1f}" y="{min(y, one):.1f}" width="{bar - 4}" height="{max(abs(y - one), 1):.1f}" '
                        f'fill="{COLOURS[number % len(COLOURS)]}"><title>{html.escape(f"{group}, {series[number]}")}: '
                        f'{cell["value"]:.3g} ({cell["low"]:.3g} to {cell["high"]:.3g})</title></rect>')
            centre = x + bar / 2
            body.append(_line(centre, y_of(cell["low"]), centre, y_of(cell["high"]), "band"))
            body.append(_text(centre, min(y_of(cell["high"]), one) - 5, _number(cell["value"]), "small middle"))
        body.append(_text(begin + len(series) * bar / 2, top + height + 22, group, "middle"))
    return _page(width, top + height + 40, title, note, body)


def steps(title, note, ticks, series, cells, axis):
    """cells[series][tick]: {value, low, high} relative to 1: lines over named steps, with bands as whiskers."""
    left, width, height, shift = 64, 720, 340, 7
    legend, legend_end = _legend(series, left, 80, width)
    top = legend_end + 24
    known = [cell for row in cells for cell in row if cell]
    first, last = _log_axis(min(1, *(cell["low"] for cell in known)), max(1, *(cell["high"] for cell in known)))

    def y_of(value):
        return top + height * (last - math.log2(value)) / (last - first)

    def x_of(at, number):
        return left + 50 + at * (width - 100) / (len(ticks) - 1) + (number - (len(series) - 1) / 2) * shift

    body = [*legend, *_log_grid(first, last, y_of, left, left + width)]
    for number, row in enumerate(cells):
        colour = COLOURS[number % len(COLOURS)]
        points = [(x_of(at, number), y_of(cell["value"]), cell) for at, cell in enumerate(row) if cell]
        body.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                    + " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points) + '"/>')
        for x, y, cell in points:
            body.append(_line(x, y_of(cell["low"]), x, y_of(cell["high"]), "", f'stroke="{colour}" stroke-width="1.2"'))
            body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
    for at, tick in enumerate(ticks):
        body.append(_text(x_of(at, (len(series) - 1) / 2), top + height + 20, tick, "middle"))
    body.append(_text(left + width / 2, top + height + 40, axis, "middle"))
    return _page(left + width + 30, top + height + 56, title, note, body)


def _round_step(most):
    """A step that a person would choose, for five to ten of them."""
    step = 10 ** math.floor(math.log10(most / 5))
    return next(step * times for times in (1, 2, 5, 10) if most / (step * times) <= 7)


def lines(title, note, series, most_x, x_axis, y_axis):
    """series: (name, first, slope): straight lines from 1 to most_x, both axes from 0."""
    left, width, height = 76, 700, 340
    legend, legend_end = _legend([name for name, _, _ in series], left, 80, width)
    top = legend_end + 24
    most = max(first + most_x * slope for _, first, slope in series)
    step_x, step_y = _round_step(most_x), _round_step(most)

    def place(x, y):
        return left + width * x / most_x, top + height * (1 - y / most)

    body = [*legend]
    for at in range(int(most / step_y) + 1):
        _, y = place(0, at * step_y)
        body += [_line(left, y, left + width, y, "axis"), _text(left - 8, y + 4, f"{at * step_y:g}", "end")]
    for at in range(int(most_x / step_x) + 1):
        x, _ = place(at * step_x, 0)
        body += [_line(x, top + height, x, top + height + 5, "one"), _text(x, top + height + 20, f"{at * step_x:g}", "middle")]
    body.append(_line(left, top + height, left + width, top + height, "one"))
    for number, (_, first, slope) in enumerate(series):
        (x1, y1), (x2, y2) = place(1, first + slope), place(most_x, first + most_x * slope)
        # Every other line is dashed, so that those which lie on each other are both seen.
        dash = 'stroke-dasharray="9 6"' if number % 2 else ""
        body.append(_line(x1, y1, x2, y2, "", f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2.2" {dash}'))
    body.append(_text(left + width / 2, top + height + 42, x_axis, "middle"))
    body.append(f'<text transform="translate(20 {top + height / 2:.0f}) rotate(-90)" class="middle">{html.escape(y_axis)}</text>')
    return _page(left + width + 30, top + height + 58, title, note, body)
