// The policies there are. Constant objects; any thread.
#pragma once

#include "policy/task_policy.h"

namespace hearth::policy {

extern const TaskPolicy& work_stealing;
extern const TaskPolicy& central;
extern const TaskPolicy& locality;
extern const TaskPolicy& home_cache;
extern const TaskPolicy& adaptive;

}  // namespace hearth::policy
