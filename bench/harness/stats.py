"""Medians, paired ratios and bootstrap intervals; no I/O, no randomness but the generator that is passed in.

A series is one median per round, None where the round gave nothing. Ratios are formed inside a round, where both sides
saw the same machine, and the intervals resample whole rounds, so drift between rounds cancels instead of widening them.
"""
import math

RESAMPLES = 2000


def median(values):
    ordered = sorted(values)
    if not ordered:
        raise ValueError("median of nothing")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def quartiles(values):
    """Lower and upper quartile by linear interpolation: the spread that one outlier does not move."""
    ordered = sorted(values)

    def at(fraction):
        place = fraction * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return at(0.25), at(0.75)


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


class Interval:
    """A ratio and its 95 % interval."""

    def __init__(self, value, low, high):
        self.value = value
        self.low = low
        self.high = high

    def holds(self, number):
        return self.low <= number <= self.high

    def as_json(self):
        return {"ratio": round(self.value, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


def _interval(statistic, rounds, generator):
    """95 % percentile bootstrap of statistic(list of round numbers)."""
    if not rounds:
        return None
    draws = sorted(statistic(generator.choices(rounds, k=len(rounds))) for _ in range(RESAMPLES))
    return Interval(statistic(rounds), draws[int(0.025 * RESAMPLES)], draws[int(0.975 * RESAMPLES) - 1])


def complete_rounds(*series):
    return [r for r, values in enumerate(zip(*series)) if None not in values]


def paired_ratio(ours, theirs, generator):
    """Median over rounds of ours / theirs."""
    rounds = complete_rounds(ours, theirs)
    ratios = {r: ours[r] / theirs[r] for r in rounds}
    return _interval(lambda picked: median([ratios[r] for r in picked]), rounds, generator)


def ratio_to_fastest(ours, rivals, generator):
    """Against the fastest of several rivals: the largest of the paired ratios.

    The choice of the fastest is made anew in every resample; choosing it once would make the interval too narrow where
    two rivals are close.
    """
    rivals = [series for series in rivals if complete_rounds(ours, series)]
    if not rivals:
        return None
    rounds = complete_rounds(ours, *rivals)
    tables = [{r: ours[r] / series[r] for r in rounds} for series in rivals]
    return _interval(lambda picked: max(median([table[r] for r in picked]) for table in tables), rounds, generator)


def ratio_of_rows(pairs, generator):
    """Median over rounds of the geometric mean over rows of ours / theirs; rounds in which a row is missing count less."""
    by_round = {}
    for ours, theirs in pairs:
        for r in complete_rounds(ours, theirs):
            by_round.setdefault(r, []).append(ours[r] / theirs[r])
    means = {r: geometric_mean(ratios) for r, ratios in by_round.items()}
    return _interval(lambda picked: median([means[r] for r in picked]), sorted(means), generator)


def geometric_mean_to_fastest(rows, generator):
    """Geometric mean over rows of the ratio to the fastest rival; rows are (ours, [rivals])."""
    tables = []
    common = None
    for ours, rivals in rows:
        rivals = [series for series in rivals if complete_rounds(ours, series)]
        if not rivals:
            continue
        rounds = set(complete_rounds(ours, *rivals))
        common = rounds if common is None else common & rounds
        tables.append([[o / t if o is not None and t is not None else None for o, t in zip(ours, series)]
                       for series in rivals])
    if not tables or not common:
        return None

    def statistic(picked):
        return geometric_mean([max(median([ratios[r] for r in picked]) for ratios in table) for table in tables])

    return _interval(statistic, sorted(common), generator)
