// See spelling.h.
#include "cli/spelling.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <fmt/format.h>
#include <unistd.h>

#include "base/options.h"
#include "cli/output.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kPrefixes[] = {"OMP_", "HEARTH_", "KMP_", "GOMP_"};
// Of our own, by which the parts of an installation talk to each other.
constexpr std::string_view kInternal[] = {"HEARTH_AUDIT_TARGET", "HEARTH_CHECK", "HEARTH_VERIFY_FILE", "HEARTH_RECORD",
                                          "HEARTH_RECORD_COUNTERS", "HEARTH_RECORD_FILE", "HEARTH_BTLP", "HEARTH_CC", "HEARTH_CXX"};

std::string letters_of(std::string_view word) {
  std::string letters;
  for (const char c : word)
    if (c != '_' && c != '-') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// Insertions, deletions, changes, and neighbours that were swapped.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

template <class Visit>
void for_each_variable(Visit visit) {
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const Option& row = option(option_at(i));
    visit(row.name);
    ListReader aliases(row.aliases, ' ');
    std::string_view alias;
    while (aliases.next(alias))
      if (!alias.empty()) visit(alias);
  }
  for (const std::string_view name : kInternal) visit(name);
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& legal) {
  constexpr std::size_t kShort = 5;
  const std::string letters = letters_of(word);
  std::size_t least = letters.size() <= kShort ? 2 : 3;  // must be below
  std::string nearest;
  for (const std::string& candidate : legal) {
    const std::size_t far = distance(letters, letters_of(candidate));
    if (far >= least) continue;
    least = far;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& legal) {
  const std::string nearest = nearest_word(word, legal);
  return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
}

std::vector<UnknownVariable> unknown_variables() {
  std::vector<std::string> known;
  for_each_variable([&](std::string_view name) { known.emplace_back(name); });
  std::vector<UnknownVariable> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    const bool ours = std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                  [&](std::string_view prefix) { return name.starts_with(prefix); });
    // A device's own: OMP_NUM_THREADS_ALL, OMP_NUM_THREADS_DEV_3.
    const bool of_device = name.ends_with("_ALL") || name.find("_DEV") != std::string_view::npos;
    if (!ours || of_device || std::find(known.begin(), known.end(), name) != known.end()) continue;
    unknown.push_back({std::string(name), nearest_word(name, known)});
  }
  std::sort(unknown.begin(), unknown.end(),
            [](const UnknownVariable& a, const UnknownVariable& b) { return a.name < b.name; });
  return unknown;
}

void hint_at_variables() {
  for (const auto& [name, meant] : unknown_variables())
    if (!meant.empty()) say("{}: no such variable; did you mean {}?", name, meant);
}

}  // namespace hearth::cli
