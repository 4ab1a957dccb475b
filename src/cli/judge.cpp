// See judge.h.
#include "cli/judge.h"

#include <algorithm>
#include <set>
#include <utility>

namespace hearth::cli {
namespace {

constexpr std::uint64_t kWrite = 2;  // a bit of Range::access

template <class Visit>
void for_each_row(const Range& range, Visit visit) {
  for (std::uint64_t row = 0; row < range.rows && range.length != 0; ++row) {
    const std::uint64_t begin = range.begin + row * range.pitch;
    visit(begin, begin + range.length);
  }
}

void add_pages(const Range& range, PageSet& set) {
  for_each_row(
      range, [&](std::uint64_t begin, std::uint64_t end) { set.add(begin / kCheckedPage, (end - 1) / kCheckedPage + 1); });
}

/// What one task adds to a finding.
class Collected {
 public:
  void add(std::uint64_t first, std::uint64_t last) {
    if (!pages_.empty() && pages_.back().last == first)
      pages_.back().last = last;
    else
      pages_.push_back({first, last});
    bytes_ += (last - first) * kCheckedPage;
  }
  void enter(Finding& finding) const {
    if (bytes_ == 0) return;
    constexpr std::size_t kMostExamples = 3;
    if (finding.tasks++ == 0)
      finding.examples.assign(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(
                                                                   std::min(pages_.size(), kMostExamples)));
    finding.most_bytes = std::max(finding.most_bytes, bytes_);
  }

 private:
  std::vector<Pages> pages_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

void complete_lengths(Process& process) {
  std::map<std::pair<std::string, std::size_t>, std::set<std::uint64_t>> bases;
  for (const Execution& execution : process.executions)
    for (std::size_t i = 0; i < execution.ranges.size(); ++i)
      if (execution.ranges[i].inferred) bases[{execution.function, i}].insert(execution.ranges[i].begin);
  for (Execution& execution : process.executions) {
    for (std::size_t i = 0; i < execution.ranges.size(); ++i) {
      Range& range = execution.ranges[i];
      if (!range.inferred) continue;
      const std::set<std::uint64_t>& all = bases[{execution.function, i}];
      std::uint64_t smallest = UINT64_MAX, before = 0;
      for (const std::uint64_t base : all) {
        if (before != 0) smallest = std::min(smallest, base - before);
        before = base;
      }
      const auto next = all.upper_bound(range.begin);
      if (next != all.end() && *next - range.begin <= 2 * smallest) {
        range.length = *next - range.begin;
      } else if (smallest != UINT64_MAX) {
        range.length = smallest;
      } else {
        // The only one: it reaches as far as the task went on from there.
        std::uint64_t end = range.begin / kCheckedPage;
        for (const Touched& touched : execution.touched)
          if (touched.pages.first <= end && touched.pages.last > end) end = touched.pages.last;
        range.length = std::max(end * kCheckedPage, range.begin + 1) - range.begin;
      }
    }
  }
}

PageSet data_pages(const Process& process) {
  PageSet all, exact, data;
  std::map<std::uint64_t, std::int64_t>
      change;  // in the number of tasks that touch a page, from page to page
  for (const Execution& execution : process.executions) {
    for (const Range& range : execution.ranges) {
      add_pages(range, all);
      if (!range.inferred) add_pages(range, exact);
    }
    for (const Touched& part : execution.touched) {
      if (!part.crowded) continue;
      ++change[part.pages.first];
      --change[part.pages.last];
    }
  }
  PageSet common;
  std::int64_t tasks = 0;
  for (auto at = change.begin(); at != change.end(); ++at) {
    tasks += at->second;
    if (2 * tasks > static_cast<std::int64_t>(process.executions.size()))
      common.add(at->first, std::next(at)->first);
  }
  all.for_each([&](std::uint64_t first, std::uint64_t last) {
    common.split(first, last, [&](std::uint64_t begin, std::uint64_t end, bool is_common) {
      if (!is_common) return data.add(begin, end);
      exact.split(begin, end, [&](std::uint64_t from, std::uint64_t to, bool is_exact) {
        if (is_exact) data.add(from, to);
      });
    });
  });
  return data;
}

void judge(const Execution& execution, const PageSet& data, Verdict& verdict) {
  ++verdict.tasks;
  verdict.blind += execution.blind;
  verdict.guessed += std::any_of(execution.ranges.begin(), execution.ranges.end(),
                                 [](const Range& range) { return range.inferred; });
  PageSet declared, to_be_written, touched;
  for (const Range& range : execution.ranges) {
    add_pages(range, declared);
    if ((range.access & kWrite) != 0) add_pages(range, to_be_written);
  }
  Collected undeclared, unannounced_write, untouched;
  const auto hold = [&](std::uint64_t first, std::uint64_t last, bool written) {
    declared.split(first, last, [&](std::uint64_t begin, std::uint64_t end, bool inside) {
      if (!inside) return undeclared.add(begin, end);
      if (!written) return;
      to_be_written.split(begin, end, [&](std::uint64_t from, std::uint64_t to, bool right) {
        if (!right) unannounced_write.add(from, to);
      });
    });
  };
  for (const Touched& part : execution.touched) {
    touched.add(part.pages.first, part.pages.last);
    if (part.runtime) continue;
    if (!part.crowded) {
      hold(part.pages.first, part.pages.last, part.written);
      continue;
    }
    data.split(part.pages.first, part.pages.last, [&](std::uint64_t first, std::uint64_t last, bool inside) {
      if (inside) hold(first, last, part.written);
    });
  }
  if (!execution.blind)
    for (const Range& range : execution.ranges)
      if (!range.inferred)
        // Whole pages only: of the others something else may lie in them.
        for_each_row(range, [&](std::uint64_t begin, std::uint64_t end) {
          touched.split((begin + kCheckedPage - 1) / kCheckedPage, std::max((begin + kCheckedPage - 1) / kCheckedPage, end / kCheckedPage),
                        [&](std::uint64_t first, std::uint64_t last, bool inside) {
                          if (!inside) untouched.add(first, last);
                        });
        });
  undeclared.enter(verdict.undeclared);
  unannounced_write.enter(verdict.unannounced_write);
  untouched.enter(verdict.untouched);
}

}  // namespace hearth::cli
