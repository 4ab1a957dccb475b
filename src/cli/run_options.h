// The arguments of the commands that run a program, and of the small ones. Each registers itself, and does its work while
// the arguments are parsed; a status other than 0 is thrown as CLI::RuntimeError.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace hearth::cli {

/// Cuts the program and its arguments off those of `hearth run`, `check` and `record`: they begin behind "--", or with
/// the first word that is neither an option nor an option's value, and are the program's whatever they look like.
std::vector<std::string> split_command(std::vector<std::string>& arguments);

/// `command`: what split_command() has cut off.
void register_run(CLI::App& app, const std::vector<std::string>& command);
void register_check(CLI::App& app, const std::vector<std::string>& command);
void register_record(CLI::App& app, const std::vector<std::string>& command);
void register_export(CLI::App& app);
void register_env(CLI::App& app);

}  // namespace hearth::cli
