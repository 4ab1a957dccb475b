// The plan of a program's threads as an object file: `hearth_btlp_plan` (support/plan.h), hidden, so that each
// program and
// each shared library has its own.
#pragma once

#include <string>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

/// `like`: the target triple, and whether code is position independent. Empty: written; else what went wrong.
std::string write_plan(const Program& program, const std::string& triple, const std::string& path);

}  // namespace hearth::btlp
