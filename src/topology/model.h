// Machine models: TOML files under models/ (schema: docs/reference/model-files.md). Pure; nothing of the real machine is
// looked at.
//
// Every figure carries a mark that says where it is from (P a paper, M the papers' public code, S a public
// page, C calibrated to a published number, A assumed, H measured on the machine itself); the reader refuses
// a figure without one, and any key it does not know, so that a typing error never turns into a silent
// default. The table [simulator] is the simulator's own (sim/cost/parameters.h) and is not looked at here.
#pragma once

#include <string>
#include <string_view>

#include "topology/loaded.h"

namespace hearth::topology {

/// `file` is only named in messages.
LoadedMachine parse_model(std::string_view text, const std::string& file);
LoadedMachine load_model(const std::string& path);

}  // namespace hearth::topology
