// The words for the ways of placing teams, from bubbles.def. What they stand for is in src/policy/.
#pragma once

#include <string_view>

namespace hearth {

inline constexpr std::string_view kBubbleNames[] = {
#define HEARTH_BUBBLES(above, inside, word, meaning) word,
#include "base/bubbles.def"
#undef HEARTH_BUBBLES
};

}  // namespace hearth
