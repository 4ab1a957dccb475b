// CpuMask's operations that are not worth inlining: they run at start-up, not in regions.
#include "topology/cpu_mask.h"

#include <algorithm>

#include "topology/text.h"

namespace hearth::topology {

CpuMask::CpuMask(std::initializer_list<unsigned> cpus) {
  for (unsigned cpu : cpus) set(cpu);
}

CpuMask CpuMask::range(unsigned first, unsigned last) {
  CpuMask mask;
  for (unsigned cpu = first; cpu <= last && cpu <= kMaxCpu; ++cpu) mask.set(cpu);
  return mask;
}

CpuMask CpuMask::from_words(const Word* words, std::size_t bytes) {
  CpuMask mask;
  mask.words_.assign(words, words + bytes / sizeof(Word));
  mask.trim();
  return mask;
}

void CpuMask::set(unsigned cpu) {
  if (cpu > kMaxCpu) return;
  if (cpu / kWordBits >= words_.size()) words_.resize(cpu / kWordBits + 1);
  words_[cpu / kWordBits] |= Word{1} << (cpu % kWordBits);
}

void CpuMask::clear(unsigned cpu) {
  if (!test(cpu)) return;
  words_[cpu / kWordBits] &= ~(Word{1} << (cpu % kWordBits));
  trim();
}

std::size_t CpuMask::count() const {
  std::size_t sum = 0;
  for (Word word : words_) sum += static_cast<std::size_t>(__builtin_popcountl(word));
  return sum;
}

unsigned CpuMask::last() const {
  if (words_.empty()) return kNone;
  return static_cast<unsigned>(words_.size() * kWordBits) - 1 -
         static_cast<unsigned>(__builtin_clzl(words_.back()));
}

unsigned CpuMask::next(unsigned cpu) const {
  const unsigned from = cpu + 1;  // kNone + 1 is 0
  std::size_t w = from / kWordBits;
  if (w >= words_.size()) return kNone;
  Word rest = words_[w] & (~Word{0} << (from % kWordBits));
  while (rest == 0) {
    if (++w == words_.size()) return kNone;
    rest = words_[w];
  }
  return static_cast<unsigned>(w * kWordBits) + static_cast<unsigned>(__builtin_ctzl(rest));
}

unsigned CpuMask::nth(std::size_t rank) const {
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const auto here = static_cast<std::size_t>(__builtin_popcountl(words_[w]));
    if (rank >= here) {
      rank -= here;
      continue;
    }
    Word rest = words_[w];
    for (; rank > 0; --rank) rest &= rest - 1;
    return static_cast<unsigned>(w * kWordBits) + static_cast<unsigned>(__builtin_ctzl(rest));
  }
  return kNone;
}

bool CpuMask::intersects(const CpuMask& other) const {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t w = 0; w < common; ++w) {
    if ((words_[w] & other.words_[w]) != 0) return true;
  }
  return false;
}

bool CpuMask::contains(const CpuMask& other) const {
  if (other.words_.size() > words_.size()) return false;
  for (std::size_t w = 0; w < other.words_.size(); ++w) {
    if ((other.words_[w] & ~words_[w]) != 0) return false;
  }
  return true;
}

CpuMask& CpuMask::operator|=(const CpuMask& other) {
  if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
  for (std::size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  return *this;
}

CpuMask& CpuMask::operator&=(const CpuMask& other) {
  if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  trim();
  return *this;
}

CpuMask& CpuMask::operator-=(const CpuMask& other) {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t w = 0; w < common; ++w) words_[w] &= ~other.words_[w];
  trim();
  return *this;
}

std::string CpuMask::list() const {
  std::string text;
  for (unsigned cpu = first(); cpu != kNone;) {
    unsigned end = cpu;
    while (test(end + 1)) ++end;
    if (!text.empty()) text += ',';
    append_number(text, cpu);
    if (end > cpu) {
      text += '-';
      append_number(text, end);
    }
    cpu = next(end);
  }
  return text;
}

bool CpuMask::parse_list(std::string_view text, CpuMask& out) {
  CpuMask mask;
  Scanner scan(text);
  scan.skip_space();
  while (!scan.at_end()) {
    unsigned first = 0;
    if (!scan.number(first, kMaxCpu)) return false;
    unsigned last = first;
    unsigned stride = 1;
    if (scan.take('-')) {
      if (!scan.number(last, kMaxCpu) || last < first) return false;
      if (scan.take(':') && (!scan.number(stride, kMaxCpu) || stride == 0)) return false;
    }
    for (unsigned cpu = first; cpu <= last; cpu += stride) mask.set(cpu);
    scan.skip_space();
    if (scan.at_end()) break;
    if (!scan.take(',')) return false;
    scan.skip_space();
    if (scan.at_end()) return false;
  }
  out = std::move(mask);
  return true;
}

void CpuMask::trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace hearth::topology
