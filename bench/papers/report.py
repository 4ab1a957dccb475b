"""The tables of docs/results/data/papers.md, and the pictures beside it, from what bin/papers computed."""
import hashlib
import pathlib
import subprocess
import sys

from published import BANDWIDTHS, STREAM
import svg

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import data_page  # noqa: E402  (the path has to be set first)

FIGURE_7 = ("map", "matmul", "vecmul", "sparselu", "jacobi", "reduction")
COMBINATIONS = ("stealing + numactl", "stealing + fine", "stealing + coarse", "locality + fine", "locality + coarse",
                "locality + numactl")
FIGURE_9 = ("map", "reduction", "vecmul", "sparselu")
VICINITIES = (1, 4, 8, 16, 63)
TILE = ("stealing + fine", "stealing + coarse", "locality + fine, vicinity 63", "locality + coarse, vicinity 1",
        "locality + coarse, vicinity 8", "locality + coarse, vicinity 63")
MOST_PASSES = 30
OWN = "Hearth's own"  # the kind of a row that no paper claims
PLANS = {"figure 2": ("stay", "move memory", "move threads"),
         "figure 3": ("stay", "move the read vector", "move the written vector", "next touch", "mixed")}


def number(value, digits=3):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def band(cell):
    return number(cell["value"]) + (f" ({number(cell['low'])} to {number(cell['high'])})" if "low" in cell else "")


def table(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def blob(root, file):
    """The id that git gives to these bytes, and whether they are in HEAD."""
    text = (root / file).read_bytes()
    name = hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()
    committed = subprocess.run(["git", "-C", root, "rev-parse", "--verify", "--quiet", f"HEAD:{file}"], text=True,
                               capture_output=True, check=False).stdout.strip()
    return name, committed == name


def models(results, root):
    rows = []
    for name, machine in results["machines"].items():
        file = machine["model"]
        identity, committed = blob(root, file)
        state = "committed before the runs" if committed else "**not as committed**"
        rows.append([f"[`{name}`](../../../{file})", f"`{identity[:16]}`", state, str(len(machine["ranges"]))])
    return ["## The models", "", "`git hash-object` of the files as they were read. A figure that is not known is a "
            "range in the file; a draw takes one value of each range.", "",
            *table(("machine", "blob", "state", "ranges"), rows)]


def holds(claim):
    return claim["holds"] / claim["draws"]


def verdict(claim):
    share = f"{claim['holds']} of {claim['draws']}"
    return f"**yes**, {share}" if holds(claim) >= 0.9 else f"no, {share}" if holds(claim) <= 0.1 else f"depends, {share}"


def claims(results):
    rows = results["claims"]
    signs = [claim for claim in rows if claim["kind"] == "sign"]
    expected = [claim for claim in signs if claim["expected"]]
    kept = [claim for claim in expected if holds(claim) >= 0.9]
    lines = ["## The claims", "",
             f"{sum(holds(claim) >= 0.9 for claim in signs)} of {len(signs)} claims come out in at least nine of ten of "
             f"{results['draws']} draws. Of the {len(expected)} that an earlier prototype had reproduced (marked •), "
             f"{len(kept)} do.", ""]
    heads = ("claim", "where", "theirs", "ours", "comes out", "decided by", "fitted")
    for title, who in (("Muddukrishna et al. 2015", "Muddukrishna"), ("Broquedis et al. 2009", "Broquedis")):
        lines += [f"### {title}", ""]
        lines += table(heads,
                       [[("• " if claim["expected"] and claim["kind"] == "sign" else "") + claim["text"]
                         + ("" if claim["kind"] == "sign" else f" ({claim['kind']})"),
                         claim["where"].partition(", ")[2], claim["theirs"] or "–", band(claim["ours"]), verdict(claim),
                         claim["decides"], claim["fitted"] or "nothing"]
                        for claim in rows if claim["where"].startswith(who) and claim["kind"] != OWN])
    lines += ["### Hearth's policies in the situations of Broquedis et al. 2009", "",
              "The policies plan with the same figures, by a plainer reckoning "
              "([bubbles](../../internals/bubbles.md)); the simulator says what becomes of it. They are not among the claims "
              "counted above.", "",
              *table(("what they have to do", "where", "ours", "in so many draws"),
                     [[claim["text"], claim["where"].partition(", ")[2], band(claim["ours"]), verdict(claim)]
                      for claim in rows if claim["kind"] == OWN])]
    return lines


def relative(cells, name):
    return cells.get(name, {}).get("relative")


def benchmarks(results, folder):
    cells = results["machines"]["opteron-6172x4"]["cells"]
    grid = [[relative(cells, f"figure 7/{benchmark}/{combination}") for combination in COMBINATIONS] for benchmark in FIGURE_7]
    (folder / "figure7.svg").write_text(svg.bars(
        "Figure 7: six benchmarks on eight nodes", "time, relative to stealing + numactl; whiskers: 90 % of the draws",
        FIGURE_7, COMBINATIONS, grid))
    variants = [name for name in cells if name.startswith("figure 7/") and
                (name.split("/")[1] not in FIGURE_7 or name.split("/", 2)[2] not in COMBINATIONS)]
    lines = ["## Figure 7: eight nodes, 48 cores", "", "![Figure 7](papers/figure7.svg)", "",
             "Time relative to work stealing with numactl's interleaving, below 1 is faster; in brackets the interval of "
             "90 % of the draws. The last column is not in the paper: its runtime could not know where numactl puts pages.", "",
             *table(("benchmark", *COMBINATIONS), [[name, *(band(cell) if cell else "–" for cell in row)]
                                                   for name, row in zip(FIGURE_7, grid)])]
    lines += ["What the paper leaves open: other readings of the locality policy, and variants of a benchmark, "
              "relative to the same variant under work stealing with numactl.", "",
              *table(("benchmark", "combination", "relative time"),
                     [[name.split("/")[1], name.split("/", 2)[2].replace("/", ": "), band(relative(cells, name))]
                      for name in variants])]
    return lines


def tiles(results, folder):
    cells = results["machines"]["tilepro64"]["cells"]
    grid = [[relative(cells, f"figure 9/{benchmark}/{combination}") for combination in TILE] for benchmark in FIGURE_9]
    (folder / "figure9.svg").write_text(svg.bars(
        "Figure 9: four benchmarks on 63 tiles", "time, relative to stealing + fine; whiskers: 90 % of the draws",
        FIGURE_9, TILE, grid))
    lines = ["## Figures 9 to 11: 63 tiles with home caches", "", "![Figure 9](papers/figure9.svg)", "",
             "![Figure 11](papers/figure11.svg)", "",
             "Time relative to work stealing with fine. Vicinity: from how many tiles around it an idle thread steals.", ""]
    series, steps = [], []
    for distribution in ("coarse", "fine"):
        rows = []
        for benchmark in FIGURE_9:
            row = [relative(cells, f"figure 9/{benchmark}/locality + {distribution}, vicinity {vicinity}")
                   for vicinity in VICINITIES]
            stealing = relative(cells, f"figure 9/{benchmark}/stealing + {distribution}")
            rows.append([benchmark, *(band(cell) if cell else "–" for cell in (stealing, *row))])
            if distribution == "coarse":
                series.append(benchmark)
                steps.append(row)
        lines += table((distribution, "stealing", *(f"vicinity {vicinity}" for vicinity in VICINITIES)), rows)
    guesses = sorted({name.split("/")[1] for name in cells if name.startswith("figure 9/vecmul, ")})
    lines += ["How Vecmul is cut into tasks was never published. Guesses, with the caption's 128 vectors, relative "
              "to stealing + fine of the same guess:", "",
              *table(("guessed structure", "stealing + coarse", "locality + coarse, vicinity 1", "vicinity 8", "vicinity 63"),
                     [[guess.partition(", ")[2], *(band(relative(cells, f"figure 9/{guess}/{what}")) for what in
                      ("stealing + coarse", *(f"locality + coarse, vicinity {at}" for at in (1, 8, 63))))] for guess in guesses])]
    (folder / "figure11.svg").write_text(svg.steps(
        "Figure 11: locality + coarse by vicinity", "time, relative to stealing + fine; whiskers: 90 % of the draws",
        [str(vicinity) for vicinity in VICINITIES], series, steps, "tiles of a vicinity"))
    return lines


def bandwidths(cells):
    rows = [[name.replace("/", ", "), number(theirs), band(cells[name])] for name, theirs in BANDWIDTHS.items()]
    lines = ["## STREAM on four nodes (Broquedis et al. 2009)", "",
             "MB/s as STREAM counts them. Bound threads stand where Hearth's bubble policies put them, the others where chance "
             "does; simple rules give the cost (`bench/papers/stream.h`).", "", *table(("table 1 and 6", "theirs", "ours"), rows)]
    for which, title in (("table 4", "STREAM, table 4: worst and best"), ("table 5", "nested STREAM, table 5: worst and best")):
        rows = []
        for kernel, theirs in STREAM[which].items():
            row = [kernel]
            for at, runtime in enumerate(("libgomp", "forestgomp")):
                row.append(f"{theirs[2 * at]}–{theirs[2 * at + 1]}")
                row.append(f"{number(cells[f'{which}/{kernel}/{runtime}/worst']['value'])}–"
                           f"{number(cells[f'{which}/{kernel}/{runtime}/best']['value'])}")
            rows.append(row)
        lines += table((title, "unbound: theirs", "ours", "bound: theirs", "ours"), rows)
    return lines


def migrations(results, folder):
    cells = results["machines"]["opteron-8347hex4"]["cells"]
    lines = bandwidths(cells)
    for figure, title in (("figure 2", "all three vectors remote"), ("figure 3", "two of three vectors remote")):
        name = figure.replace(" ", "") + "-streams.svg"
        plans = PLANS[figure]
        (folder / name).write_text(svg.lines(
            f"{figure.capitalize()}: {title}", "milliseconds until that many passes of triad are done, with the model's values",
            [(plan, cells[f"{figure}/{plan}/first"]["value"] / 1e6, cells[f"{figure}/{plan}/pass"]["value"] / 1e6)
             for plan in plans], MOST_PASSES, "passes", "ms"))
        lines += [f"![{figure.capitalize()}](papers/{name})", "",
                  *table((f"{figure}: {title}", "first, ms", "a pass, ms", "pays after passes", "Hearth foresees"),
                         [[plan, *(number(cells[f"{figure}/{plan}/{what}"]["value"] / 1e6) for what in ("first", "pass")),
                           *(band(cells[f"{figure}/{plan}/{when}"]) if plan != "stay" else "–"
                             for when in ("pays after", "predicted to pay after"))] for plan in plans])]
    return lines


def write(results, page, folder, root):
    folder.mkdir(parents=True, exist_ok=True)
    body = [*models(results, root), *claims(results), *benchmarks(results, folder), *tiles(results, folder),
            *migrations(results, folder)]
    data_page.write(page, "The papers' claims, simulated", "make papers", "papers", "\n".join(body))
