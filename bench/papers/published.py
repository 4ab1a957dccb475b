"""Numbers that the papers print, by the names of our cells. Their figures are pictures, and nothing is read off a picture."""

# Broquedis et al. 2009, tables 1, 4, 5 and 6: MB/s.
BANDWIDTHS = {
    "table 1/4 threads/local": 5151,
    "table 1/4 threads/local + neighbours": 5740,
    "table 1/16 threads/local": 4 * 3635,
    "table 1/16 threads/local + neighbours": 4 * 2257,
    "table 6/libgomp/phase 1": 8144,
    "table 6/libgomp/phase 2": 3560,
    "table 6/forestgomp/phase 1": 9108,
    "table 6/forestgomp/phase 2": 6008,
}
# Worst and best of both runtimes, libgomp's first.
STREAM = {
    "table 4": {"copy": (6747, 8577, 7851, 7859), "scale": (6662, 8566, 7821, 7828),
                "add": (7132, 8821, 8335, 8340), "triad": (7183, 8832, 8357, 8361)},
    "table 5": {"copy": (6900, 8032, 8302, 8631), "scale": (6961, 7930, 8201, 8585),
                "add": (7231, 8181, 8344, 8881), "triad": (7275, 8123, 8504, 9217)},
}
