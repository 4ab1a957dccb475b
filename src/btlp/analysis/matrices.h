// The analysis' communication matrix and the recorded one, side by side, with what one has and the other has not. Pure.
#pragma once

#include <string>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

/// Pairs of threads that the recording saw meeting, and that the analysis had no edge for.
std::vector<Edge> missed_pairs(const Program& program);

/// Empty when there is no recording.
std::string recording_text(const Program& program);
/// A member `"recording": {…}` with a comma behind it, or nothing.
std::string recording_json(const Program& program);
/// As JSON has it.
std::string quoted(const std::string& text);

}  // namespace hearth::btlp
