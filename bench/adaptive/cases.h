// The cases of the policy `adaptive`: which programs on which machines it was tuned on, and on which it is
// reported. Constants.
//
// The programs are those of the generator `random` (sim/workload/generators_random.cpp) with these seeds, all settings
// drawn. No seed is both tuned on and reported. The machines of `reporting` came into the tuning set last:
// see docs/results/adaptive.md. Besides, the six benchmarks of Muddukrishna et al. 2015 are reported at the paper's
// sizes, and not tuned on.
#pragma once

#include <cstdint>

#include <string_view>

namespace hearth::adaptive {

/// Programs of consecutive seeds on one machine.
struct Cases {
  std::string_view machine;  // models/….toml
  std::uint32_t first_seed;
  std::uint32_t count;
};

inline constexpr Cases kTuning[] = {
    {"opteron-6172x4", 1, 60},
    {"epyc-9654x2-nps4", 101, 24},
    {"tilepro64", 201, 12},
    // The first reporting set, before the rules were changed for what it showed.
    {"opteron-8347hex4", 1001, 24},
    {"xeon-e5-2630v2x2", 1101, 24},
    {"xeon-spr-snc4x2", 1201, 24},
    {"opteron-6172x4", 2001, 12},
    {"epyc-9654x2-nps4", 2101, 6},
    {"tilepro64", 2201, 6},
    // The second and the third.
    {"opteron-8347hex4", 3001, 24},
    {"xeon-e5-2630v2x2", 3101, 24},
    {"xeon-spr-snc4x2", 3201, 24},
    {"opteron-6172x4", 4001, 12},
    {"epyc-9654x2-nps4", 4101, 6},
    {"tilepro64", 4201, 6},
    {"opteron-8347hex4", 5001, 24},
    {"xeon-e5-2630v2x2", 5101, 24},
    {"xeon-spr-snc4x2", 5201, 24},
    {"opteron-6172x4", 6001, 12},
    {"epyc-9654x2-nps4", 6101, 6},
    {"tilepro64", 6201, 6},
};

inline constexpr Cases kReporting[] = {
    {"opteron-8347hex4", 7001, 24},
    {"xeon-e5-2630v2x2", 7101, 24},
    {"xeon-spr-snc4x2", 7201, 24},
};

inline constexpr Cases kOtherSeeds[] = {
    {"opteron-6172x4", 8001, 12},
    {"epyc-9654x2-nps4", 8101, 6},
    {"tilepro64", 8201, 6},
};

/// For the test of all this.
inline constexpr Cases kTiny[] = {
    {"opteron-8347hex4", 7, 2},
};

inline constexpr std::string_view kBenchmarks[] = {"map",    "reduction", "vecmul",
                                                   "matmul", "jacobi",    "sparselu"};
inline constexpr std::string_view kBenchmarkMachine = "opteron-6172x4";

}  // namespace hearth::adaptive
