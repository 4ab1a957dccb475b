// The accounts of task constructs: what dealing has brought for each (policy/account.h).
//
// One table for the process, since a construct is met again in other regions and teams. Any thread; a construct takes a
// free entry by a compare-exchange, relaxed, since an entry is valid from the start.
#pragma once

#include "policy/account.h"
#include "runtime/state/task.h"

namespace hearth::rt {

/// Of the construct that the task comes from. Programs with very many constructs let some share one.
policy::Account& account_of(const Task* task);

/// Those in use, with the function of the tasks.
void for_each_account(void (*visit)(const void* body, const policy::Account& account, void* data), void* data);

}  // namespace hearth::rt
