// Why a policy has left a task where it was made, or has not: for people (`hearth run --explain`).
//
// Worked out only where somebody explains, from what deal() or asks() was shown, by the code that has decided. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::policy {

enum class Why : std::uint8_t {
  dealt,  // to where it would end first
  tried,  // elsewhere, or left here, to see how long it takes so
  // Asked about, and left to its creator.
  left,  // the policy tells no reason
  unknown_place,
  evenly_far,
  no_slower,
  small_gain,
  small_data,
  here_already,
  crowded,
  // Not asked about.
  has_priority,
  untimed,
  short_task,
  creator_awaited,
  in_cache,
  saves_little,
  count_
};
inline constexpr std::size_t kWhys = static_cast<std::size_t>(Why::count_);

/// The reason as the end of "not dealt: …".
const char* reason_text(Why why);
/// The number's word in recordings: "small_gain"; null: there is no such number.
const char* why_name(int why);

}  // namespace hearth::policy
