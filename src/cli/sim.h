// `hearth sim`: benchmarks on machine models, under several policies and distributions of their data.
#pragma once

#include <CLI/App.hpp>

namespace hearth::cli {

/// Adds the subcommand. Its callback does the work and throws CLI::RuntimeError with the exit status where
/// that is not 0.
void register_sim(CLI::App& app);

}  // namespace hearth::cli
