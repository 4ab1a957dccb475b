// Managed memory: blocks that Hearth distributes over the machine, so that it can compute where their bytes
// are.
//
// All of it lies in one reserved range of addresses, so "is it ours?" is one comparison. Blocks whose bytes
// are all at one location, or spread unit by unit over all, come from slabs: regions of blocks of one size,
// whose pages were given their policy once. Other distributions, and blocks beyond kLargestInSlab, have a
// region of their own. Nothing is stored in front of a block, so blocks of a page and more begin at a page;
// what is known of a block stands beside the region.
//
// Huge pages: a page is the unit, and where owners change inside a huge page, huge pages are switched off for
// the region, or the kernel would place 2 MiB at once and the computed owners were wrong. Where they do not
// (one location, or blocked with large parts) the system's setting stays. With `huge` the unit is the huge
// page instead.
//
// Any thread may call anything. One lock, held for list operations and for the making of slabs; it is taken
// around fork(), so a child can allocate. Lookups (is_managed, block_at, owner_table) take no lock. Nothing
// here calls malloc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/homes.h"
#include "placement/owner_table.h"
#include "placement/slabs.h"

namespace hearth::memory {

extern placement::OwnerTable owner_table;

inline bool is_managed(const void* address) { return owner_table.manages(reinterpret_cast<std::uintptr_t>(address)); }

/// An allocation site (sites.h); 0: none, or nobody learns.
using SiteId = std::uint16_t;

/// A distribution in more pieces is not one policy per piece (the kernel has 65530 mappings per process), but
/// populated at once, piece by piece.
inline constexpr std::size_t kMostPieces = 1024;

struct ManagedRequest {
  placement::Distribution what;
  std::size_t size = 0;
  std::size_t alignment = 1;      // a power of two
  Location requester = kUnknown;  // nearest: whose; kUnknown: the calling thread's
  std::uintptr_t tag = 0;         // the caller's; comes back with block_at()
  bool zeroed = false;
  bool huge = false;  // the unit is a huge page, for blocks of at least one
  bool own_pages = false;  // shares no page and no policy with another block
  SiteId site = 0;         // only with pages of its own
  std::size_t most_pieces = kMostPieces;  // weighted: about so many, each of which is a mapping of the kernel's
};

/// The tag of blocks that a program has from malloc (takeover.h): a caller that finds it must not take
/// the block for its own.
inline constexpr std::uintptr_t kTagOfMalloc = ~std::uintptr_t{0};
/// And of blocks of the memory manager (manager.h).
inline constexpr std::uintptr_t kTagOfManager = kTagOfMalloc - 1;

using placement::kLargestInSlab;
/// Reserves the range of addresses now, and not with the first block. False: there is none (said once).
bool reserve_managed_range();

/// A block, or null: no memory, size 0, an alignment that is no power of two, or no range of addresses to
/// manage (ulimit -v; said once). `standard` and `environment` are malloc's, but for a block with pages of its own, which
/// the operating system then places.
void* managed_allocate(const ManagedRequest& request);

/// For memory that the program has mapped itself and nobody has touched: its pages will be where `what` says, which is no
/// custom distribution. Nothing is remembered of it: the kernel tells who asks. False: the kernel has refused.
bool distribute_mapping(void* begin, std::size_t bytes, const placement::Distribution& what, bool huge, std::size_t most_pieces);

/// How many bytes such a block takes: a block of its slab, or whole pages. Exact; for pools.
std::size_t managed_block_bytes(const placement::Distribution& what, std::size_t alignment, std::size_t size);

/// `block` as managed_allocate() gave it.
void managed_release(void* block);

/// The block with another size and its content; same distribution (a coarse one stays where it is), tag and
/// alignment of its kind. Null leaves it as it was.
void* managed_resize(void* block, std::size_t size, std::size_t alignment = 1);

struct ManagedBlock {
  char* begin = nullptr;
  std::size_t size = 0;      // as asked for
  std::size_t capacity = 0;  // bytes that may be used without moving
  std::uintptr_t tag = 0;
  placement::Kind kind = placement::Kind::standard;
  bool in_slab = false;  // its addresses stay readable when it is freed
  SiteId site = 0;
  placement::Kind site_kind = placement::Kind::standard;  // as the site asked for it
};
/// The live block around any address in it. A hint while others release it. No lock.
bool block_at(const void* address, ManagedBlock& block);
/// Once true for each block of a site: nobody has asked before.
bool first_use(const void* address);
/// For the owner of the block.
void set_tag(void* block, std::uintptr_t tag);

/// Holds computed owners against those that the kernel tells: of the managed pages at these addresses (the
/// first kMostOwnersChecked), and where one of them is wrong, of pages all over its region. Where a good part
/// of these lies elsewhere (a node ran full, somebody moved them) the region's owners count as unknown from
/// then on, PageMap is asked instead, and one line says so. A few system calls; none where nothing is
/// managed.
inline constexpr std::size_t kMostOwnersChecked = 64;
void check_owners(const std::uint64_t* addresses, std::size_t count);

/// Whole pages of managed memory are going to be moved. Where this is a part of a region, what was computed of it is noted in
/// PageMap, which is asked from now on: several parts may move at once.
void owners_will_move(placement::ByteRange pages);
/// Whole pages of managed memory were moved: all of them to `to`, or, kUnknown, to several places. Where this is not a
/// whole region, PageMap is asked about the region from now on; of the pages moved it has been told by whoever moved them.
void owners_moved(placement::ByteRange pages, Location to);
/// Pages of managed memory are going to move without a word: what was computed of their regions is noted in PageMap, which
/// is asked from now on.
void owners_unknown(placement::ByteRange pages);
/// The range lies in a slab in part: pages there belong to several blocks.
bool shares_pages(placement::ByteRange range);

}  // namespace hearth::memory
