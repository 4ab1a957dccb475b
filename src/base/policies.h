// The words for policies, from policies.def. What they stand for is in src/policy/.
#pragma once

#include <cstddef>

#include <string_view>

namespace hearth {

inline constexpr std::string_view kPolicyNames[] = {
#define HEARTH_POLICY(object, word, meaning) word,
#include "base/policies.def"
#undef HEARTH_POLICY
};

}  // namespace hearth
