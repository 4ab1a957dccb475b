"""The one table of a run: for the terminal, as markdown for the docs, as JSON. Formats only, measures nothing."""
import math
import pathlib
import platform
import re
import sys

from . import stats, verdict

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from data_page import write as write_page  # noqa: E402, F401  (the path has to be set first; for those who measure)

COLUMNS = (verdict.OURS, *verdict.RIVALS, verdict.INTEL)
SECTIONS = {"overhead": "constructs", "tasks": "task benchmarks", "startup": "processes"}


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 100 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.3g} ns" if ns < 100 else f"{ns:.0f} ns"


def _cell(row, runtime, results):
    values = [value for value in results.series(row.key, runtime) if value is not None]
    if not values:
        return "failed" if runtime in row.errors else "–"
    middle = stats.median(values)
    low, high = stats.quartiles(values)
    return f"{time_text(middle)} ±{50 * (high - low) / middle:.0f}%"


def ratio_text(interval):
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]" if interval else "–"


def _mark(row):
    if not row.cutoff:
        return ""
    if row.failed:
        return "FAILED"
    if row.fastest and row.fastest.low > row.limit():
        return "misses"
    return "" if row.again is None or row.again.holds(1.0) else "(A/A off)"


HEADINGS = ["row", "build", "Hearth", *COLUMNS[1:], "/ faster [95 %]", "/ libiomp5 [95 %]", "/ floor", "A/A", ""]


def lines_of(judged, results):
    """[(section, [cells])], the table's rows in the order in which they were asked for."""
    table = []
    for row in judged.rows:
        section = SECTIONS[row.section] + ("" if row.cutoff else ", all cut-offs disabled")
        cells = [row.name, row.compiler, *(_cell(row, runtime, results) for runtime in COLUMNS), ratio_text(row.fastest),
                 ratio_text(row.intel), f"{row.floor.value:.2f}" if row.floor else "", f"{row.again.value:.2f}" if row.again else "–",
                 _mark(row)]
        table.append((section, cells))
    return table


def _conclusions(judged, results):
    floor = {name: [value for value in values if value is not None] for name, values in results.floor.items()}
    if all(floor.values()):
        yield ("floor of this machine: " + ", ".join(f"{name} {time_text(stats.median(values))}" for name, values in floor.items()))
    if judged.again:
        yield f"A/A, Hearth against Hearth over all rows: {judged.again.value:.3f} [{judged.again.low:.3f}, {judged.again.high:.3f}]"
    if results.samples:
        yield f"{results.rounds} rounds, {results.samples} samples, {100 * results.quiet / results.samples:.0f} % after a quiet moment"
    for key, errors in results.errors.items():
        for runtime, message in errors.items():
            if runtime == verdict.AGAIN and verdict.OURS in errors:
                continue  # the same library twice
            yield f"{key[1]} ({key[2]}) on {runtime}: {message}"


def plain_table(headings, table, left=2):
    """Aligned columns: the first ones to the left, the others to the right."""
    widths = [max(len(row[c]) for row in [headings, *table]) for c in range(len(headings))]
    return "\n".join("  ".join(cell.ljust(width) if c < left else cell.rjust(width) for c, (cell, width) in
                               enumerate(zip(row, widths))).rstrip() for row in [headings, *table])


def markdown_table(headings, table):
    return "\n".join(["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings),
                      *("| " + " | ".join(row) + " |" for row in table)]) + "\n"


def terminal(judged, results):
    table = lines_of(judged, results)
    widths = [max([len(HEADINGS[c])] + [len(cells[c]) for _, cells in table]) for c in range(len(HEADINGS))]

    def line(cells):
        return "  ".join(cell.ljust(width) if c < 2 or c == len(cells) - 1 else cell.rjust(width)
                         for c, (cell, width) in enumerate(zip(cells, widths))).rstrip()

    out = [line(HEADINGS)]
    section = None
    for new_section, cells in table:
        if new_section != section:
            section = new_section
            out.append(f"-- {section}")
        out.append(line(cells))
    out.append("")
    out.extend(_conclusions(judged, results))
    out.append("")
    for finding in judged.findings:
        out.append(f"{'holds ' if finding.holds else 'MISSED'} {finding.text}")
        out.extend(f"         {missing}" for missing in finding.missing)
    out.append(f"This run is void as a verdict: {judged.void}." if judged.void
               else "All limits hold." if judged.passed() else "Limits are missed, see above.")
    return "\n".join(out)


def brief(judged, results):
    """Times and their ratios without intervals and verdicts, to show, not to judge: a line for each benchmark, the binaries
    of both compilers beside each other."""
    ratios = []

    def middle(row, runtime):
        values = [value for value in results.series(row.key, runtime) if value is not None]
        return stats.median(values) if values else None

    def cells(row, runtimes):
        if row is None:
            return ["–"] * (len(runtimes) + 1)
        times = {runtime: middle(row, runtime) for runtime in runtimes}
        ours = times[verdict.OURS]
        rivals = [time for runtime, time in times.items() if runtime != verdict.OURS and time is not None]
        ratio = ours / min(rivals) if ours and rivals else None
        ratios.extend([ratio] if ratio else [])
        return [*(time_text(time) if time is not None else "failed" if runtime in row.errors else "–"
                  for runtime, time in times.items()), f"{ratio:.2f} x" if ratio else "–"]

    users = {"gcc": (*verdict.RIVALS, verdict.OURS), "clang": ("libomp", verdict.OURS)}
    rows = {(row.name, row.compiler): row for row in judged.rows}
    table = [[name, *(cell for compiler, runtimes in users.items() for cell in cells(rows.get((name, compiler)), runtimes))]
             for name in dict.fromkeys(row.name for row in judged.rows)]
    headings = ["", "gcc's: libgomp", "libomp", "Hearth", "/ faster", "clang's: libomp", "Hearth", "/ libomp"]
    out = [plain_table(headings, table, left=1)]
    if ratios:
        out.append(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} x")
    out += [f"{key[1]} ({key[2]}) on {runtime}: {message}" for key, errors in results.errors.items()
            for runtime, message in errors.items()]
    return "\n".join(out)


def machine():
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read(), re.MULTILINE)
        model = found.group(1) if found else platform.processor()
    return f"{model}, Linux {platform.release()}"


def markdown(judged, results, settings):
    out = [f"Machine: {machine()}. {settings['threads']} threads, {'bound' if settings['bound'] else 'unbound'}, "
           f"{results.rounds} rounds. Medians ± half the interquartile range; ratios are paired, with 95 % intervals.", ""]
    section = None
    for new_section, cells in lines_of(judged, results):
        if new_section != section:
            if section:
                out.append("")
            section = new_section
            out += [f"### {section[0].upper()}{section[1:]}", "", "| " + " | ".join(HEADINGS) + " |",
                    "|---|---|" + "--:|" * (len(HEADINGS) - 3) + "---|"]
        out.append("| " + " | ".join(cells) + " |")
    out += ["", "### Verdict", ""]
    out += [f"- {text}" for text in _conclusions(judged, results)]
    for finding in judged.findings:
        out.append(f"- **{'holds' if finding.holds else 'missed'}**: {finding.text}"
                   + (": " + "; ".join(finding.missing) if finding.missing else ""))
    if judged.void:
        out.append(f"- This run is void as a verdict: {judged.void}.")
    return "\n".join(out) + "\n"


def as_json(judged, results, settings):
    def row_json(row):
        ratios = {"fastest rival": row.fastest, "fastest rival anywhere": row.anywhere, "libiomp5": row.intel,
                  "floor": row.floor, "again": row.again}
        return {"section": row.section, "row": row.name, "compiler": row.compiler, "cutoff": row.cutoff,
                "ns per round": results.medians[row.key], "errors": row.errors,
                "ratios": {name: interval.as_json() for name, interval in ratios.items() if interval}}

    return {"settings": settings, "machine": machine(), "rounds": results.rounds, "interrupted": results.interrupted,
            "floor ns per round": results.floor, "samples": results.samples, "quiet samples": results.quiet,
            "again": judged.again.as_json() if judged.again else None,
            "tasks mean": judged.tasks_mean.as_json() if judged.tasks_mean else None,
            "void": judged.void, "passed": judged.passed(),
            "findings": [{"text": finding.text, "holds": finding.holds, "missing": finding.missing}
                         for finding in judged.findings],
            "rows": [row_json(row) for row in judged.rows]}
