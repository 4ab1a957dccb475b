// Two runs side by side: their figures, and their constructs by how much they differ. A task's key is the same in every run
// that creates the same tasks, so where both have a task its work is compared with itself (inflation). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/data.h"
#include "report/json_text.h"

namespace hearth::report {

struct ComparedConstruct {
  std::string name, kind;
  std::int64_t tasks[2] = {0, 0}, work[2] = {0, 0};    // of the first and of the second run
  std::int64_t same_tasks = 0, same_work[2] = {0, 0};  // of tasks that both have
};

struct Comparison {
  std::vector<ComparedConstruct> constructs;  // by the difference of their work, largest first
};

Comparison compare(const Subject& first, const Subject& second);

/// For a terminal.
std::string comparison_text(const Subject& first, const Subject& second, const Comparison& comparison);

/// A member of an object that `to` has open.
void put_comparison(JsonText& to, const Subject& first, const Subject& second, const Comparison& comparison);

}  // namespace hearth::report
