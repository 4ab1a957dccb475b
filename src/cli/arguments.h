// The command line: finds the subcommand, reads its arguments, and lets it do its work (the ..._main() of each).
#pragma once

#include <string>

namespace hearth::cli {

/// The exit status. What is wrong with the arguments has been said. `version_text`: for --version.
int run_command_line(int argc, char** argv, std::string (*version_text)());

}  // namespace hearth::cli
