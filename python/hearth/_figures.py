"""The report's figures as axes of matplotlib. The numbers are those of the report's page: both come from the command."""

LOCAL = 10  # the distance of a node to itself, as SLIT has it


def _axes(axes, **shape):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("matplotlib is not installed; `pip install \"hearth-openmp[plot]\"` brings it") from missing
    return pyplot.subplots(**shape)[1]


def _milliseconds(run):
    return run["begin_ns"] / 1e6, run["end_ns"] / 1e6


def binned(spans, rows, begin, end, columns):
    """Two arrays, threads x columns: the share of each piece of time in tasks, and the mean distance of their data (NaN:
    not known). `spans`: (row, begin, end, distance or None)."""
    import numpy

    busy = numpy.zeros((rows, columns))
    known = numpy.zeros((rows, columns))
    far = numpy.zeros((rows, columns))
    width = max(end - begin, 1) / columns
    for row, first, last, distance in spans:
        low, high = (first - begin) / width, (last - begin) / width
        left, right = max(int(low), 0), min(int(high), columns - 1)
        for column in range(left, right + 1):
            part = min(high, column + 1) - max(low, column)
            if part <= 0:
                continue
            busy[row, column] += part
            if distance is not None:
                known[row, column] += part
                far[row, column] += part * distance
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return numpy.minimum(busy, 1), far / known


# Explicit tasks, and what threads do in loops outside of them.
SPANS = """
SELECT s.thread, s.begin_ns, s.end_ns, d.distance FROM span s JOIN task t ON t.id = s.task
LEFT JOIN task_distance d ON d.task = s.task WHERE t.kind NOT IN ('initial', 'implicit')
UNION ALL
SELECT l.thread, l.begin_ns, l.end_ns, NULL FROM loop l JOIN task t ON t.id = l.task WHERE t.kind IN ('initial', 'implicit')
AND l.kind NOT IN ('taskloop', 'single', 'single-other')"""


def timeline(recording, axes, columns):
    from_thread = recording.rows("SELECT id FROM thread ORDER BY process, number, id")[1]
    rows = {identity: row for row, (identity,) in enumerate(from_thread)}
    spans = recording.rows(SPANS)[1]
    run = recording.report["run"]
    axes = _axes(axes, figsize=(10, min(0.4 * len(rows), 12) + 1.5), layout="constrained")
    import matplotlib
    import numpy

    busy, distance = binned(((rows[thread], first, last, far) for thread, first, last, far in spans if last is not None),
                            len(rows), run["begin_ns"], run["end_ns"], columns)
    farthest = max(float(numpy.nanmax(distance)) if numpy.isfinite(distance).any() else LOCAL, LOCAL + 1)
    shades = matplotlib.colormaps["YlOrRd"]
    picture = shades((numpy.nan_to_num(distance, nan=LOCAL) - LOCAL) / (farthest - LOCAL))
    picture[~numpy.isfinite(distance)] = (0.45, 0.55, 0.65, 1)
    picture[..., 3] = busy
    begin, end = _milliseconds(run)
    axes.imshow(picture, aspect="auto", interpolation="nearest", extent=(begin, end, len(rows) - 0.5, -0.5))
    axes.set_xlabel("ms")
    axes.set_ylabel("thread")
    axes.set_yticks(range(len(rows)), [str(number) for (number,) in recording.rows("SELECT number FROM thread ORDER BY process, number, id")[1]])
    axes.set_title("Tasks and loops; colour: distance of their data" if numpy.isfinite(distance).any() else "Tasks and loops")
    if numpy.isfinite(distance).any():
        scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(LOCAL, farthest), shades)
        axes.figure.colorbar(scale, ax=axes, label="distance (10 is local)")
    return axes


def locality_matrix(recording, axes):
    locality = recording.report["locality"]
    if not locality["known"]:
        raise ValueError(f"{recording.path}: no locality is known: {locality['why_unknown']}")
    import numpy

    count = locality["locations"]
    bytes_by = numpy.array(locality["matrix"], dtype=float).reshape(count, count)
    axes = _axes(axes, figsize=(0.5 * count + 2.5, 0.5 * count + 1.8), layout="constrained")
    picture = axes.imshow(bytes_by / 2**20, cmap="Blues", vmin=0)
    axes.set_xlabel("where the data was")
    axes.set_ylabel("where the task ran")
    axes.set_xticks(range(count))
    axes.set_yticks(range(count))
    axes.set_title(f"{100 * locality['remote_bytes'] / max(locality['bytes'], 1):.0f} % remote")
    axes.figure.colorbar(picture, ax=axes, label="MiB")
    return axes


def parallelism(recording, axes):
    report = recording.report
    begin, end = _milliseconds(report["run"])
    over_time = report["parallelism"]
    axes = _axes(axes, figsize=(10, 2.5), layout="constrained")
    for name, words in (("available", "could have run"), ("running", "ran")):
        values = over_time[name]
        if values:
            width = (end - begin) / len(values)
            axes.step([begin + width * i for i in range(len(values))], values, where="post", label=words)
    axes.set_xlabel("ms")
    axes.set_ylabel("tasks")
    axes.set_ylim(bottom=0)
    axes.set_xlim(begin, end)
    axes.legend(loc="upper right")
    return axes
