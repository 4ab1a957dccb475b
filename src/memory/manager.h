// The memory manager: what the calls of <hearth/memory.h> do, from areas, migrations, marks and statistics. Numbers in, an
// errno out (0: done); any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/areas.h"
#include "memory/migrate.h"
#include "memory/next_touch.h"

namespace hearth::memory {

enum class BlockPolicy : std::uint8_t { by_default, first_touch, at, here, least_loaded };

struct BlockRequest {
  BlockPolicy policy = BlockPolicy::by_default;
  Location location = kUnknown;  // at
  bool huge = false;
};

/// Null, with an errno: no memory, or a location that does not exist.
void* manager_allocate(std::size_t size, const BlockRequest& request, int& error);
void manager_free(void* block);
/// What by_default means.
int manager_set_default(const BlockRequest& request);

int manager_register(placement::ByteRange range);
int manager_unregister(std::uint64_t address);
int manager_split(std::uint64_t address, int n, void** begins);

/// Answers of manager_locate() that are no location.
inline constexpr Location kNowhere = -1, kUntouched = -2, kSeveral = -20;
Location manager_locate(placement::ByteRange range);

int manager_migrate(placement::ByteRange range, Location to);
int manager_distribute(std::uint64_t address, const Location* at, int n);
int manager_next_touch(placement::ByteRange range, Touch how);

/// Who carries migrations of these calls out, instead of the calling thread alone: the runtime, whose team may help. Must
/// return when the migration is done().
using Mover = void (*)(Migration& migration);
void set_mover(Mover mover);
/// By the mover, or by this thread. What to tell the program of it.
int carry_out(Migration& migration);

}  // namespace hearth::memory
