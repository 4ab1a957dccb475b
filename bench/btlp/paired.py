"""Two builds of one program, run in turn: medians, quartiles and the median of the ratios inside a round.

A round runs both, in random order, so that both see the same machine; see bench/harness/stats.py for the interval.
"""
import pathlib
import random
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from harness import stats  # noqa: E402  (the path has to be set first)


class Times:
    def __init__(self, without, with_):
        self.without, self.with_ = without, with_

    def row(self):
        """'0.50 s (0.48 to 0.52)' of each, and the ratio with its 95 % interval."""
        ratio = self.ratio()
        return [side(self.without), side(self.with_), f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"]

    def ratio(self):
        return stats.paired_ratio(self.with_, self.without, random.Random(1))


def side(values):
    low, high = stats.quartiles(values)
    return f"{stats.median(values):.3f} s ({low:.3f} to {high:.3f})"


def measure(without, with_, rounds, tell=lambda done: None, seed=1, is_enough=lambda times: True, most_seconds=0):
    """without(), with_(): run once and return seconds, or None for 'take the time yourself'. One round more warms up.

    Where the rounds are not enough there are as many again, and so on, unless all together would take over most_seconds.
    """
    generator = random.Random(seed)
    times = {0: [], 1: []}
    began = time.monotonic()
    number, last = 0, rounds
    while True:
        if number > last:
            if 2 * (time.monotonic() - began) > most_seconds or is_enough(Times(times[0], times[1])):
                break
            last *= 2
        order = [0, 1]
        generator.shuffle(order)
        for which in order:
            begin = time.monotonic()
            own = (without, with_)[which]()
            seconds = time.monotonic() - begin if own is None else own
            if number > 0:
                times[which].append(seconds)
        tell(number)
        number += 1
    return Times(times[0], times[1])
