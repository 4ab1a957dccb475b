// `hearth model check` and `hearth model list`: the machine models, by the very readers that the runtime and
// the simulator use.
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

/// Adds the subcommand. Its callbacks do the work and throw CLI::RuntimeError with the exit status where that
/// is not 0.
void register_model(CLI::App& app);

}  // namespace hearth::cli
