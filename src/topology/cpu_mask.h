// CpuMask: a set of CPU numbers (or of NUMA node numbers) as the kernel counts them, of any size.
//
// A plain value. Words are laid out like glibc's cpu_set_t, so words() and bytes() go straight into
// sched_setaffinity(). cpu_set_t itself stops at 1024 CPUs, and the kernel refuses masks that are shorter
// than its own: this type grows with what is put in. Trailing zero words are never kept, so equality is
// equality of the sets. Not synchronised: whoever shares a mask between threads publishes it first.
#pragma once

#include <cstddef>
#include <cstdint>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::topology {

class CpuMask {
 public:
  using Word = unsigned long;
  static constexpr unsigned kWordBits = 8 * sizeof(Word);
  /// The largest number a mask holds. Linux stops at 8192 CPUs today; the bound keeps nonsense in a variable
  /// or a model file from becoming gigabytes.
  static constexpr unsigned kMaxCpu = 65535;
  static constexpr unsigned kNone = ~0u;

  CpuMask() = default;
  CpuMask(std::initializer_list<unsigned> cpus);

  /// first to last, both inside. Empty when last < first.
  static CpuMask range(unsigned first, unsigned last);
  /// What sched_getaffinity() wrote.
  static CpuMask from_words(const Word* words, std::size_t bytes);
  /// The kernel's list format, "0-3,8,10-14:2" ("used/total" groups are not known here); blank space around
  /// it and an empty text are fine. False, and an unchanged mask, when the text is anything else.
  static bool parse_list(std::string_view text, CpuMask& out);

  void set(unsigned cpu);
  void clear(unsigned cpu);
  bool test(unsigned cpu) const {
    return cpu / kWordBits < words_.size() && (words_[cpu / kWordBits] >> (cpu % kWordBits) & 1) != 0;
  }
  bool empty() const { return words_.empty(); }
  std::size_t count() const;
  /// kNone when there is none.
  unsigned first() const { return next(kNone); }
  unsigned last() const;
  /// The smallest member above `cpu`; next(kNone) is the first.
  unsigned next(unsigned cpu) const;
  /// The member with `rank` members below it; kNone when there are not that many.
  unsigned nth(std::size_t rank) const;

  bool intersects(const CpuMask& other) const;
  bool contains(const CpuMask& other) const;

  CpuMask& operator|=(const CpuMask& other);
  CpuMask& operator&=(const CpuMask& other);
  CpuMask& operator-=(const CpuMask& other);
  friend CpuMask operator|(CpuMask a, const CpuMask& b) { return std::move(a |= b); }
  friend CpuMask operator&(CpuMask a, const CpuMask& b) { return std::move(a &= b); }
  friend CpuMask operator-(CpuMask a, const CpuMask& b) { return std::move(a -= b); }
  friend bool operator==(const CpuMask&, const CpuMask&) = default;

  /// "0-3,8"; empty for the empty set.
  std::string list() const;

  /// For sched_setaffinity(pid, mask.bytes(), mask.cpu_set()).
  const Word* words() const { return words_.data(); }
  std::size_t bytes() const { return words_.size() * sizeof(Word); }

  template <class Function>
  void for_each(Function&& function) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (Word rest = words_[w]; rest != 0; rest &= rest - 1) {
        function(static_cast<unsigned>(w * kWordBits) + static_cast<unsigned>(__builtin_ctzl(rest)));
      }
    }
  }

 private:
  void trim();

  std::vector<Word> words_;
};

/// Node numbers use the same representation.
using NodeMask = CpuMask;

}  // namespace hearth::topology
