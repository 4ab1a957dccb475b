// What `hearth sim --advise` prints: the allocations with their distributions, and how to put those in force.
#pragma once

#include <string>
#include <vector>

#include "sim/study/search.h"

namespace hearth::cli {

/// Columns as wide as their longest cell; the first row has the titles.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// Who touches a region first, in words.
const char* toucher(sim::FirstTouch first_touch);

/// A row for each group of allocations, and what to say so that a program gets them so.
/// `allocations_known`: the regions are allocations; else nothing can be put in force.
std::string advice_text(const sim::Workload& workload, const sim::Searched& searched, bool allocations_known);

}  // namespace hearth::cli
