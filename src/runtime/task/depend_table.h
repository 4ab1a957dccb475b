// The dependence table of a parent: its nodes, one for each child with dependences, and the sets that named an address last.
//
// The table is read and written only by the thread that runs the parent. What other threads touch of a node is atomic: the
// list of successors, the count of unfinished predecessors, the parties that hold the node, and the chain of nodes that
// they give back. depend.h tells the protocol.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/assert.h"
#include "base/cacheline.h"
#include "base/cpu.h"
#include "runtime/state/dependence.h"
#include "runtime/state/thread.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {

// One edge of the graph, in the list of its source. Laid out as __kmpc_task_get_successors() promises.
struct DependLink {
  DependNode* sink;
  DependLink* next;
};

// Links beyond a node's own, chained newest block first.
struct DependLinkBlock {
  DependLinkBlock* older;
  std::uint32_t capacity;
  std::uint32_t used;
  DependLink* links() { return reinterpret_cast<DependLink*>(this + 1); }
};

struct alignas(kCacheLine) DependNode {
  static constexpr std::uint32_t kOwnLinks = 3;
  static constexpr std::int32_t kCreator = 1 << 30;  // in `waiting_for` until all edges are pushed

  // Written by the creator, then by those who finish predecessors.
  std::atomic<std::int32_t> waiting_for{0};
  std::atomic<std::uint32_t> parties{2};  // the table and the task, until each lets go
  Task* task = nullptr;                   // null: a thread waits here, and `waiter` is its team
  Team* waiter = nullptr;
  std::atomic<DependLink*> successors{nullptr};
  // The creator's: nobody else reads these before the node is returned.
  std::uint32_t table_uses = 0;     // sets of the table that hold this node
  std::uint32_t links = 0;          // how many of `own_links` are in use
  DependNode* last_sink = nullptr;  // newest successor: a second edge to it says nothing new
  DependNode* next_free = nullptr;
  DependLink own_links[kOwnLinks];
  DependLinkBlock* more_links = nullptr;
};

extern DependLink closed_mark;
/// In `successors`: the task has finished.
inline DependLink* const kClosed = &closed_mark;

inline bool finished(const DependNode* node) {
  // Acquire pairs with the exchange in release_dependences(): what the task wrote is seen by whoever is not
  // ordered after it by an edge.
  return node->successors.load(std::memory_order_acquire) == kClosed;
}

// The tasks that named an address last, with one kind.
struct NodeSet {
  DependNode* one = nullptr;    // a set of one needs no array
  DependNode** many = nullptr;  // else all of them are here
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;

  DependNode* at(std::uint32_t i) const { return many == nullptr ? one : many[i]; }
};

struct DependEntry {
  const void* address = nullptr;
  DependKind kind = DependKind::out;
  bool used = false;
  NodeSet current, previous;
};

// Owned by the parent. Nodes come from its chunks; those that other threads let go of last come back through
// `returned`.
struct DependTable {
  static constexpr std::uint32_t kFirstEntries = 16;
  static constexpr std::size_t kFirstNodes = 16;

  DependEntry* entries = nullptr;
  std::uint32_t capacity = 0;  // a power of two
  std::uint32_t used = 0;
  DependNode* free = nullptr;
  struct Chunk {
    Chunk* next;
    std::size_t nodes;
  };
  Chunk* chunks = nullptr;
  NodeSet everything;  // the last task with omp_all_memory: before all that is not in `entries`
  std::atomic<DependNode*> returned{nullptr};
};

/// Never null: when memory is refused the process is told and stopped. The same holds for all that make or add.
DependTable* make_depend_table();
void free_depend_table(DependTable* table);

DependLink* take_link_slowly(DependNode* sink);
/// One link more for edges into `sink`; the last one taken can be put back.
inline DependLink* take_link(DependNode* sink) {
  if (HEARTH_LIKELY(sink->links < DependNode::kOwnLinks)) return &sink->own_links[sink->links++];
  return take_link_slowly(sink);
}
inline void put_back_link(DependNode* sink) {
  if (sink->more_links != nullptr)
    --sink->more_links->used;
  else
    --sink->links;
}

void free_more_links(DependNode* node);
inline void drop_links(DependNode* node) {
  if (HEARTH_UNLIKELY(node->more_links != nullptr)) free_more_links(node);
}

/// Fills the list of free nodes: with those that others gave back, or new ones.
void find_free_nodes(DependTable* table);
/// The place of `task` among its siblings; the caller uses it once, as a set of the table does.
inline DependNode* make_node(DependTable* table, Task* task) {
  if (HEARTH_UNLIKELY(table->free == nullptr)) find_free_nodes(table);
  DependNode* node = table->free;
  HEARTH_ASSERT(node->table_uses == 0 && node->more_links == nullptr,
                "a node from the free list stands in %u sets of the table", node->table_uses);
  table->free = node->next_free;
  node->waiting_for.store(DependNode::kCreator, std::memory_order_relaxed);
  node->parties.store(2, std::memory_order_relaxed);
  node->task = task;
  node->successors.store(nullptr, std::memory_order_relaxed);
  node->table_uses = 1;  // the creator's, while it enters the task
  node->links = 0;
  node->last_sink = nullptr;
  return node;
}

/// A node that nobody holds: by the parent's thread, and by another.
inline void keep(DependTable* table, DependNode* node) {
  drop_links(node);
  node->next_free = table->free;
  table->free = node;
}

void give_back(DependTable* table, DependNode* node);

// One of the two parties is done with the node; true when it was the second. Release and acquire pair with
// each other, so that the first party's last look comes before the node's next use.
inline bool let_go(DependNode* node) {
  if (node->parties.load(std::memory_order_acquire) == 1) return true;
  count_shared_write();
  const std::uint32_t parties = node->parties.fetch_sub(1, std::memory_order_acq_rel);
  HEARTH_ASSERT(parties == 1 || parties == 2, "a node that %u parties hold is let go", parties);
  return parties == 1;
}

/// The task lets go of its node, by any thread: the second of the two parties returns it.
inline void let_go_of_node(Thread* self, Task* parent, DependNode* node) {
  if (!let_go(node)) return;
  if (parent->children.owner.load(std::memory_order_relaxed) == self)
    keep(parent->depends, node);
  else
    give_back(parent->depends, node);
}

/// A set of the table, or the creator, does not use the node any more.
inline void unuse(DependTable* table, DependNode* node) {
  HEARTH_ASSERT(node->table_uses != 0, "a node leaves the table, and stands nowhere in it: %p",
                static_cast<void*>(node));
  if (--node->table_uses == 0 && let_go(node)) keep(table, node);
}

inline void clear(DependTable* table, NodeSet& set) {
  for (std::uint32_t i = 0; i < set.size; ++i) unuse(table, set.at(i));
  if (HEARTH_UNLIKELY(set.many != nullptr)) std::free(set.many);
  set = NodeSet();
}

void add_to_many(DependTable* table, NodeSet& set, DependNode* node);
inline void add(DependTable* table, NodeSet& set, DependNode* node) {
  if (HEARTH_UNLIKELY(set.size != 0 || set.many != nullptr)) return add_to_many(table, set, node);
  ++node->table_uses;
  set.one = node;
  set.size = 1;
}

inline std::uint32_t hash_of(const void* address) {
  const auto x = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  return static_cast<std::uint32_t>(x * 0x9e3779b97f4a7c15u >> 32);
}

/// The entry of the address, or an unused one.
inline DependEntry* find(const DependTable* table, const void* address) {
  const std::uint32_t mask = table->capacity - 1;
  std::uint32_t i = hash_of(address) & mask;
  while (table->entries[i].used && table->entries[i].address != address) i = (i + 1) & mask;
  return &table->entries[i];
}

/// Enters the address into the unused `entry` that find() has found for it.
DependEntry* make_entry(DependTable* table, DependEntry* entry, const void* address);
/// The entry of the address; a new one starts with the last task that named all memory.
inline DependEntry* find_or_make(DependTable* table, const void* address) {
  DependEntry* entry = find(table, address);
  return entry->used ? entry : make_entry(table, entry, address);
}

}  // namespace hearth::rt
