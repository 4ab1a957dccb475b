// The dependence table of a parent: its nodes, one for each child with dependences, and the sets that named an address last.
//
// The table is read and written only by the thread that runs the parent. What other threads touch of a node is atomic: the
// list of successors, the count of unfinished predecessors, the parties that hold the node, and the chain of nodes that
// they give back. depend.h tells the protocol.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cacheline.h"
#include "runtime/state/dependence.h"
#include "runtime/state/thread.h"

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
/// The place of `task` among its siblings; the caller uses it once, as a set of the table does.
DependNode* make_node(DependTable* table, Task* task);
/// One link more for edges into `sink`; the last one taken can be put back.
DependLink* take_link(DependNode* sink);
void put_back_link(DependNode* sink);
void drop_links(DependNode* node);
/// The task lets go of its node, by any thread: the second of the two parties returns it.
void let_go_of_node(Thread* self, Task* parent, DependNode* node);
/// A set of the table, or the creator, does not use the node any more.
void unuse(DependTable* table, DependNode* node);

void clear(DependTable* table, NodeSet& set);
void add(DependTable* table, NodeSet& set, DependNode* node);
/// The entry of the address, or an unused one.
DependEntry* find(const DependTable* table, const void* address);
/// The same; a new one starts with the last task that named all memory.
DependEntry* find_or_make(DependTable* table, const void* address);

}  // namespace hearth::rt
