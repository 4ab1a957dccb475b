// Short forms of records (spill.h), made long again for those who read them.
//
// One per spill file, asked for each record in its order. Touches nothing but itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/spill.h"

namespace hearth::record {

class ShortForms {
 public:
  /// A block begins: nothing has been said in it.
  void begin_block() {
    parent_ = task_ = code_ = left_ = entered_ = 0;
    cpu_low_ = cpu_high_ = 0;
  }

  /// `kind`, `words` behind the record's first one, and `items` become those of the long form, if there is one. False: the
  /// record leans on what the block has not said. The words last until the next call.
  bool expand(Kind& kind, const std::uint64_t*& words, std::size_t items) {
    switch (kind) {
      case Kind::task_create:
        parent_ = words[0], task_ = id_in(words[1]), code_ = words[2];
        return true;
      case Kind::create_again:
      case Kind::create_turned:
        if (task_ == 0) return false;
        if (kind == Kind::create_turned) code_ ^= kUndeferredInCode;
        return become(Kind::task_create, kind, words, parent_, ++task_, code_);
      case Kind::task_switch:
        return enter(id_in(words[0]), words[1], note_in(words[0]) & kCpuLow, note_in(words[1]));
      case Kind::switch_on: return switch_from_last(kind, words, id_in(words[0]), note_in(words[0]));
      case Kind::switch_back: return switch_from_last(kind, words, left_, kComplete);
      case Kind::dependences_of_last:
        if (task_ == 0 || items > kMostItems) return false;
        for (std::size_t i = 0; i < items; ++i) put(1 + 2 * i, data_in(words[i]), data_note_in(words[i]));
        return become(Kind::dependences, kind, words, task_);
      case Kind::footprint_of_last:
        if (task_ == 0 || items > kMostItems) return false;
        for (std::size_t i = 0; i < items; ++i)
          put(1 + 5 * i, data_in(words[2 * i]), words[2 * i + 1], 1, 0, data_note_in(words[2 * i]));
        return become(Kind::footprint, kind, words, task_);
      default: return true;
    }
  }

 private:
  static constexpr unsigned kComplete = 1;  // ompt_task_complete
  static constexpr unsigned kCpuLow = 0xff0;

  template <class... Words>
  void put(std::size_t at, Words... words) {
    ((long_[at++] = static_cast<std::uint64_t>(words)), ...);
  }
  template <class... Words>
  bool become(Kind other, Kind& kind, const std::uint64_t*& words, Words... first) {
    put(0, first...);
    kind = other;
    words = long_;
    return true;
  }
  bool enter(std::uint64_t from, std::uint64_t to, unsigned cpu_low, unsigned cpu_high) {
    left_ = from;
    entered_ = id_in(to);
    cpu_low_ = cpu_low;
    cpu_high_ = cpu_high;
    return true;
  }
  bool switch_from_last(Kind& kind, const std::uint64_t*& words, std::uint64_t to, unsigned status) {
    if (entered_ == 0) return false;
    const std::uint64_t from = entered_;
    enter(from, to, cpu_low_, cpu_high_);
    return become(Kind::task_switch, kind, words, with_note(from, (status & 15) | cpu_low_), with_note(to, cpu_high_));
  }

  std::uint64_t parent_ = 0, task_ = 0, code_ = 0;
  std::uint64_t left_ = 0, entered_ = 0;
  unsigned cpu_low_ = 0, cpu_high_ = 0;
  std::uint64_t long_[2 + 5 * kMostItems] = {};
};

}  // namespace hearth::record
