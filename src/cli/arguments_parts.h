// What the files that register arguments share (arguments.cpp says how). Includes CLI11.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/parse.h"

namespace hearth::cli {

/// A check: whole numbers in this range.
inline auto numbers(std::int64_t least, std::int64_t most) {
  return [least, most](const std::string& text) {
    const auto parsed = parse_integer(text, least, most);
    if (parsed) return std::string();
    return fmt::format("\"{}\": {} at column {}; legal: {} to {}", text, parse_failure_text(parsed.failure),
                       parsed.column(), least, most);
  };
}

inline void end_with(int status) {
  if (status != 0) throw CLI::RuntimeError(status);
}

/// The commands that read recordings: report, export, sim, map.
void register_readers(CLI::App& app);
/// bench and demo.
void register_bench(CLI::App& app);

}  // namespace hearth::cli
