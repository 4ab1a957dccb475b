// What earlier runs have learned, and what this one adds (HEARTH_LEARN): accounts of task constructs, and how the blocks of
// allocation sites are used (memory/sites.h), kept in a file (policy/learned.h, docs/reference/learned.md).
//
// The file is read before there are other threads of the runtime, and constant from then on; any thread may begin an
// account or a site with it. At exit what this process has seen is joined to what stands in the file by then. A child of fork()
// that executes nothing else adds nothing.
#pragma once

#include "policy/account.h"

namespace hearth::rt::learned {

/// Constant once the runtime is initialized.
extern bool on;

/// From initialize(), when it is known whether tasks are dealt.
void start();
/// Then, if HEARTH_DISTRIBUTE says so: sites are told apart.
void begin_sites();
/// A construct is met for the first time: the function of its tasks.
[[gnu::cold]] void begin(const void* body, policy::Account& account);
/// The process ends.
void finish();

}  // namespace hearth::rt::learned
