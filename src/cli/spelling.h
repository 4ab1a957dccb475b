// Words that were mistyped: what was probably meant. Pure, apart from reading the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// The word of the list that differs in at most two letters (one in short words), underscores and case aside; empty:
/// none does.
std::string nearest_word(std::string_view word, const std::vector<std::string>& legal);

/// "; did you mean \"run\"?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& legal);

/// A variable that begins like one of OpenMP's or Hearth's and is none.
struct UnknownVariable {
  std::string name;
  std::string meant;  // empty: none is like it
};
std::vector<UnknownVariable> unknown_variables();

/// Says those that were probably meant to be others.
void hint_at_variables();

}  // namespace hearth::cli
