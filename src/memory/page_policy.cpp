// See page_policy.h. One policy (a preferred node, or all nodes in turn) where the layout allows it; else one for each piece; or,
// where these would be too many mappings, pages that are touched at once under the thread's own policy.
#include "memory/page_policy.h"

#include <algorithm>

#include <sys/mman.h>

#include "memory/kernel_pages.h"
#include "memory/managed.h"
#include "memory/managed_regions.h"

namespace hearth::memory {
namespace {

using placement::kMaxLocations;
using placement::Layout;

bool too_many_pieces(const Layout& layout, std::uint64_t begin, std::uint64_t end) {
  std::size_t pieces = 0;
  for (std::uint64_t at = begin; at < end && pieces <= kMostPieces; at = layout.run_end(at)) ++pieces;
  return pieces > kMostPieces;
}

bool bind_pieces(const MemoryHomes& machine, const Layout& layout, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin, next; at < end; at = next) {
    next = std::min(end, layout.run_end(at));
    const Location owner = layout.owner(at);
    if (owner != kUnknown && kernel::prefer(pointer(at), next - at, machine.node[owner]) != kernel::Outcome::done)
      return false;
  }
  return true;
}

bool populate_pieces(const MemoryHomes& machine, const Layout& layout, std::uint64_t begin, std::uint64_t end) {
  kernel::ThreadPolicy policy;
  for (std::int32_t h = 0; h < machine.homes.count; ++h) {
    const Location home = machine.homes.at[h];
    if (policy.prefer(machine.node[home]) != kernel::Outcome::done) return false;
    for (std::uint64_t at = begin, next; at < end; at = next) {
      next = std::min(end, layout.run_end(at));
      if (layout.owner(at) == home) kernel::ThreadPolicy::populate(pointer(at), next - at);
    }
  }
  return true;
}

}  // namespace

bool apply_layout(const MemoryHomes& machine, const Layout& layout, std::uint64_t begin, std::size_t bytes, bool huge) {
  if (!machine.kernel_places || !machine.several()) return true;
  void* memory = pointer(begin);
  const std::size_t length = rounded_up(bytes, kPage);
  const bool divided = layout.form != Layout::Form::single && layout.form != Layout::Form::unknown;
  if (huge)
    madvise(memory, length, MADV_HUGEPAGE);
  else if (divided && layout.unit < kHugePage)
    madvise(memory, length, MADV_NOHUGEPAGE);  // fails only where there are no huge pages anyway
  if (layout.form == Layout::Form::single)
    return kernel::prefer(memory, length, machine.node[layout.single]) == kernel::Outcome::done;
  if (layout.form == Layout::Form::cyclic && layout.anchor == 0) {
    std::uint16_t nodes[kMaxLocations];
    std::int32_t count = 0;
    for (std::int32_t h = 0; h < machine.homes.count; ++h) nodes[count++] = machine.node[machine.homes.at[h]];
    return kernel::interleave(memory, length, nodes, count) == kernel::Outcome::done;
  }
  if (layout.form == Layout::Form::unknown) return true;
  return too_many_pieces(layout, begin, begin + length) ? populate_pieces(machine, layout, begin, begin + length)
                                                        : bind_pieces(machine, layout, begin, begin + length);
}

}  // namespace hearth::memory
