// The word by which a primary thread starts a region, or dismisses its workers: epoch << 32 | team size << 1 | dismiss.
//
// One word, because members beyond the size read nothing else: the primary thread does not wait for them before it fills the
// fork line again. Stored with release by the primary thread, loaded with acquire by the workers (ForkLine::go).
#pragma once

#include <cstdint>

namespace hearth::rt {

struct ForkWord {
  std::uint64_t bits = 0;

  static constexpr ForkWord region(std::uint32_t epoch, std::int32_t size) {
    return {std::uint64_t{epoch} << 32 | std::uint64_t{static_cast<std::uint32_t>(size)} << 1};
  }
  static constexpr ForkWord dismissal(std::uint32_t epoch) { return {std::uint64_t{epoch} << 32 | 1}; }

  constexpr std::uint32_t epoch() const { return static_cast<std::uint32_t>(bits >> 32); }
  constexpr std::int32_t size() const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) >> 1);
  }
  constexpr bool dismisses() const { return (bits & 1) != 0; }
};

}  // namespace hearth::rt
