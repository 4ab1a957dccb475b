// The policies there are, from base/policies.def. Constant objects; any thread.
#pragma once

#include "policy/task_policy.h"

namespace hearth::policy {

#define HEARTH_POLICY(object, word, meaning) extern const TaskPolicy& object;
#include "base/policies.def"
#undef HEARTH_POLICY

}  // namespace hearth::policy
