// The questions that Algorithm 1 of Stirb 2018 leaves open, or answers twice: each is a switch with two answers. The first
// is what the paper prints, or the other reading of it; the second is what we have decided
// (docs/decisions/019-threads-are-typed-at-the-link.md). A mode is a set of answers; `hearth cc --gap` changes single ones.
//
// Plain values without a word of LLVM: the command line checks its words with the same table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::btlp {

enum class Mode : std::uint8_t { literal, paper, balanced };
inline constexpr const char* kModeNames[] = {"literal", "paper", "balanced"};

enum class Gap : std::uint8_t {
  last_branch,
  globals,
  loop,
  loop_threads,
  loop_tree,
  order,
  nested,
  result,
  parameter,
  parent,
  weak_sharing,
  thread_per,
  unknown_routine,
  seat,
  turn,
  ties,
};
inline constexpr std::size_t kGaps = 16;

struct GapText {
  const char* name;
  const char* answers[2];
  const char* meaning;  // "FIRST ...; SECOND ..."
};
const GapText& text_of(Gap gap);

/// The answers that were asked for; all others are the mode's.
class Gaps {
 public:
  /// Is the second answer taken?
  bool decided(Gap gap, Mode mode) const;
  /// "name=answer,name=answer". False: `problem` says what is wrong with which word, and nothing has changed.
  bool add(std::string_view words, std::string& problem);
  /// As add() takes them, in the order of the table; empty: all are the mode's.
  std::string asked_for() const;

 private:
  static constexpr std::uint8_t kOfMode = 2;
  static constexpr std::array<std::uint8_t, kGaps> none() {
    std::array<std::uint8_t, kGaps> all{};
    all.fill(kOfMode);
    return all;
  }
  std::array<std::uint8_t, kGaps> answer_ = none();
};

}  // namespace hearth::btlp
