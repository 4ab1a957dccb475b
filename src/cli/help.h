// How `hearth COMMAND --help` looks, and what its subcommands share of CLI11. Used while the arguments are parsed.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace hearth::cli {

/// The layout of help texts: usage lines with PROGRAM, and optional values as [=FILE].
void lay_out_help(CLI::App& app);

/// A flag with a value of its own behind '=': --verify, or --verify=FILE. `value` is "-" without one.
CLI::Option* add_flag_with_file(CLI::App* to, const std::string& name, std::string& value, const std::string& meaning);

}  // namespace hearth::cli
