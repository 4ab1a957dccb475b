// Allocation sites: which distribution the next large block of each gets, and how its blocks are used (HEARTH_DISTRIBUTE=learn).
//
// A site is the caller's address with a class of sizes. Any thread may allocate and note uses: sites are found without a lock,
// counts are relaxed atomics, hints all of them. A site is made by the first thread that allocates there; until it has told
// what earlier runs know of the site, others take it for unknown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/block_events.h"
#include "memory/managed.h"
#include "policy/site.h"

namespace hearth::memory::sites {

/// Constant once learning has begun.
extern bool on;

/// What earlier runs know of a site; `use` stays as it is if they know nothing. Must not allocate large blocks.
using Earlier = void (*)(const void* caller, std::uint32_t size_class, policy::SiteUse& use);
/// Once, before the first block. `all_tasks`: how many have ended in the process, with a footprint or without.
using Counted = std::uint64_t (*)();
void begin(std::int32_t locations, std::uint32_t workers, Earlier earlier, Counted all_tasks);

/// Completes a request by `caller` for a block: its site, and the distribution that suits it.
void choose(const void* caller, ManagedRequest& request);

/// What suits the next block of a site that was used so.
placement::Kind next_kind(const policy::SiteUse& use);

/// For how many tasks the next one that ends shall be noted: all of the first ones stand for themselves, then some for others;
/// 0: it shall not.
std::uint32_t notes(std::uint64_t turn);
/// A task with a footprint has ended, which is still there and stands for so many; and then, for each part of a block of a site that it had named:
void note_task(std::uint32_t stands_for);
struct Use {
  placement::ByteRange part;         // may reach over more than was named: rows
  std::uint64_t bytes = 0;           // named
  std::uint64_t all_bytes = 0;       // by the task
  std::uint64_t time = 0;            // that it took, ns
  placement::Location here = kUnknown;  // where it ran
};
void note_use(const ManagedBlock& block, const Use& use);

/// Sites whose blocks tasks have used in this process.
void for_each(void (*visit)(const void* caller, std::uint32_t size_class, const policy::SiteUse& use, void* data), void* data);

}  // namespace hearth::memory::sites
