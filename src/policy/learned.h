// What runs have learned, as text: the file of HEARTH_LEARN (docs/reference/learned.md).
//
// Pure. A first line with the version, then one entry a line, oldest first; an entry belongs to a place in a module's code,
// on one machine, with one number of threads. Whatever is not exactly of this form is refused, with the place. Texts of
// entries point into what was read, or belong to whoever adds the entry.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string>
#include <string_view>
#include <vector>

#include "policy/experience.h"
#include "policy/site.h"

namespace hearth::policy {

struct Learned {
  std::uint64_t machine = 0;  // topology/fingerprint.h
  std::uint64_t threads = 0;
  std::uint64_t offset = 0;  // in the module: of the task's function, or behind the call that allocates
  std::string_view build;    // changes when the module is built anew
  std::string_view module;   // absolute path
  Experience seen{};         // of a task construct
  bool is_site = false;      // else it is one
  std::uint64_t size = 0;    // of a site: blocks of less than 2^size bytes, and not less than half of that
  SiteUse use{};

  bool same_program(const Learned& other) const {
    return machine == other.machine && threads == other.threads && module == other.module;
  }
  bool same_place(const Learned& other) const {
    return same_program(other) && offset == other.offset && build == other.build && is_site == other.is_site && size == other.size;
  }
};

inline constexpr std::size_t kMostLearned = 2000, kMostLearnedBytes = 512 * 1024;
inline constexpr std::size_t kMostBuild = 64, kMostModule = 4095;

/// Whether a module with this name and build may stand in the file.
bool is_build(std::string_view text);
bool is_module(std::string_view text);

struct LearnedText {
  std::vector<Learned> entries;
  // What is wrong, if anything is; then there are no entries. Counted from 1.
  const char* wrong = nullptr;
  const char* legal = nullptr;
  std::size_t line = 0, column = 0;

  bool ok() const { return wrong == nullptr; }
};
/// An empty text is a file without entries.
LearnedText read_learned(std::string_view text);

/// Whether it begins as such a file does, of this version or another.
bool is_learned_file(std::string_view text);

/// As text, without the oldest where that would be more than kMostLearned or kMostLearnedBytes.
std::string write_learned(const std::vector<Learned>& entries);

/// Joins a run's entry to all: it is the newest. Those of earlier builds of its module go.
void add_learned(std::vector<Learned>& entries, const Learned& newer);

/// The entry of the same place; null: there is none.
const Learned* find_learned(const std::vector<Learned>& entries, const Learned& place);

}  // namespace hearth::policy
