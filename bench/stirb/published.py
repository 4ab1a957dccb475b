"""What Stirb 2018 (Computers 7, 66) prints in its tables, to hold ours beside it."""

# Table 1, CPU-X: threads: watts without, with, their difference, the same in per cent.
CPU_X = {1: (1.801, 1.707, 0.094, 5.24), 2: (1.847, 1.720, 0.126, 6.85), 3: (1.815, 1.808, 0.008, 0.42),
         4: (1.866, 1.680, 0.186, 9.97), 5: (1.868, 1.667, 0.202, 10.80), 6: (1.870, 1.618, 0.252, 13.50),
         7: (1.916, 1.712, 0.204, 10.66), 8: (1.843, 1.653, 0.190, 10.30), 9: (1.888, 1.593, 0.295, 15.63),
         10: (1.879, 1.619, 0.260, 13.82), 11: (1.891, 1.666, 0.225, 11.89), 12: (1.720, 1.554, 0.167, 9.69)}
# Tables 2 and 3, Context Switch over 40 runs: minimum, mean, maximum, variance, standard deviation; without and with.
SWITCH_SECONDS = ((40.56, 41.57, 42.16, 0.10, 0.32), (40.11, 41.91, 42.95, 0.45, 0.67))
SWITCH_WATTS = ((36.99, 40.49, 42.09, 0.83, 0.91), (38.62, 40.17, 41.94, 0.75, 0.86))
SWITCH_RUNS = 40
CLAIMS = {"Context Switch": 5.0, "CPU-X": 15.0}  # "up to" so many per cent of energy


def t_of(without, with_, runs):
    """Welch's t of two rows of a table."""
    return (with_[1] - without[1]) / ((without[3] + with_[3]) / runs) ** 0.5


def joules(watts, seconds):
    return watts[1] * seconds[1]
