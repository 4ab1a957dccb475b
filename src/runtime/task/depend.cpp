#include "runtime/task/depend.h"

#include <cstdlib>
#include <new>

#include "base/log.h"
#include "runtime/tools/events.h"
#include "runtime/locality/footprint.h"
#include "runtime/task/ready.h"
#include "runtime/task/wait.h"
#include "runtime/state/dependence.h"
#include "runtime/sync/wait.h"

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

namespace {

DependLink closed_mark;
DependLink* const kClosed = &closed_mark;  // in `successors`: the task has finished

bool finished(const DependNode* node) {
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

struct Entry {
  const void* address = nullptr;
  DependKind kind = DependKind::out;
  bool used = false;
  NodeSet current, previous;
};

}  // namespace

// Owned by the parent. Nodes come from its chunks; those that other threads let go of last come back through
// `returned`.
struct DependTable {
  static constexpr std::uint32_t kFirstEntries = 16;
  static constexpr std::size_t kFirstNodes = 16;

  Entry* entries = nullptr;
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

namespace {

[[noreturn]] void no_memory() { fatal("out of memory: no room for task dependences"); }

template <class T>
T* make_array(std::size_t n) {
  auto* array = static_cast<T*>(std::malloc(n * sizeof(T)));
  if (array == nullptr) no_memory();
  return array;
}

Entry* make_entries(std::uint32_t n) {
  auto* entries = make_array<Entry>(n);
  for (std::uint32_t i = 0; i < n; ++i) new (entries + i) Entry;
  return entries;
}

DependTable* make_table() {
  auto* table = new (make_array<DependTable>(1)) DependTable;
  table->capacity = DependTable::kFirstEntries;
  table->entries = make_entries(table->capacity);
  return table;
}

void add_chunk(DependTable* table) {
  const std::size_t n = table->chunks == nullptr ? DependTable::kFirstNodes : table->chunks->nodes * 2;
  void* block = nullptr;
  if (posix_memalign(&block, kCacheLine, kCacheLine + n * sizeof(DependNode)) != 0) no_memory();
  auto* chunk = static_cast<DependTable::Chunk*>(block);
  chunk->next = table->chunks;
  chunk->nodes = n;
  table->chunks = chunk;
  auto* nodes = reinterpret_cast<DependNode*>(static_cast<char*>(block) + kCacheLine);
  for (std::size_t i = n; i-- > 0;) {
    new (nodes + i) DependNode;
    nodes[i].next_free = table->free;
    table->free = nodes + i;
  }
}

DependNode* make_node(DependTable* table, Task* task) {
  if (HEARTH_UNLIKELY(table->free == nullptr)) {
    if (table->returned.load(std::memory_order_relaxed) != nullptr)
      table->free = table->returned.exchange(nullptr, std::memory_order_acquire);  // pairs with give_back()
    else
      add_chunk(table);
  }
  DependNode* node = table->free;
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

void drop_links(DependNode* node) {
  while (HEARTH_UNLIKELY(node->more_links != nullptr)) {
    DependLinkBlock* older = node->more_links->older;
    std::free(node->more_links);
    node->more_links = older;
  }
}

// By the parent's thread.
void keep(DependTable* table, DependNode* node) {
  drop_links(node);
  node->next_free = table->free;
  table->free = node;
}

// By another thread.
void give_back(DependTable* table, DependNode* node) {
  drop_links(node);
  DependNode* old = table->returned.load(std::memory_order_relaxed);
  do {
    node->next_free = old;
    count_shared_write();
  } while (!table->returned.compare_exchange_weak(old, node, std::memory_order_release,
                                                  std::memory_order_relaxed));
}

// One of the two parties is done with the node; true when it was the second. Release and acquire pair with
// each other, so that the first party's last look comes before the node's next use.
bool let_go(DependNode* node) {
  if (node->parties.load(std::memory_order_acquire) == 1) return true;
  count_shared_write();
  return node->parties.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void unuse(DependTable* table, DependNode* node) {
  if (--node->table_uses == 0 && let_go(node)) keep(table, node);
}

void clear(DependTable* table, NodeSet& set) {
  for (std::uint32_t i = 0; i < set.size; ++i) unuse(table, set.at(i));
  std::free(set.many);
  set = NodeSet();
}

// Forget members that have finished: they hold nobody up.
void prune(DependTable* table, NodeSet& set) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < set.size; ++i) {
    DependNode* node = set.at(i);
    if (finished(node))
      unuse(table, node);
    else
      (set.many == nullptr ? set.one : set.many[kept]) = node, ++kept;
  }
  set.size = kept;
  if (kept == 0) clear(table, set);
}

bool contains_last(const NodeSet& set, const DependNode* node) {
  return set.size != 0 && set.at(set.size - 1) == node;
}

void add(DependTable* table, NodeSet& set, DependNode* node) {
  if (contains_last(set, node)) return;  // the same task named the address twice
  if (set.size != 0 && set.size == (set.many == nullptr ? 1 : set.capacity)) prune(table, set);
  ++node->table_uses;
  if (set.size == 0 && set.many == nullptr) {
    set.one = node;
    set.size = 1;
    return;
  }
  if (set.many == nullptr || set.size * 2 > set.capacity) {
    const std::uint32_t capacity = set.many == nullptr ? 4 : set.capacity * 2;
    auto* many = make_array<DependNode*>(capacity);
    for (std::uint32_t i = 0; i < set.size; ++i) many[i] = set.at(i);
    std::free(set.many);
    set.many = many;
    set.capacity = capacity;
  }
  set.many[set.size++] = node;
}

std::uint32_t hash(const void* address) {
  const auto x = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  return static_cast<std::uint32_t>(x * 0x9e3779b97f4a7c15u >> 32);
}

Entry* find(const DependTable* table, const void* address) {
  const std::uint32_t mask = table->capacity - 1;
  std::uint32_t i = hash(address) & mask;
  while (table->entries[i].used && table->entries[i].address != address) i = (i + 1) & mask;
  return &table->entries[i];
}

// Before the table grows, entries go whose tasks have all finished: a generator that names ever new addresses
// keeps only those that matter.
void make_room(DependTable* table) {
  std::uint32_t live = 0;
  for (std::uint32_t i = 0; i < table->capacity; ++i) {
    Entry& entry = table->entries[i];
    if (!entry.used) continue;
    prune(table, entry.current);
    prune(table, entry.previous);
    if (entry.current.size != 0)
      ++live;
    else
      clear(table, entry.previous);  // whom the current ones waited for
  }
  const std::uint32_t old_capacity = table->capacity;
  Entry* old = table->entries;
  if (live * 4 > old_capacity) table->capacity *= 2;
  table->entries = make_entries(table->capacity);
  table->used = 0;
  for (std::uint32_t i = 0; i < old_capacity; ++i) {
    if (!old[i].used || old[i].current.size == 0) continue;
    *find(table, old[i].address) = old[i];
    ++table->used;
  }
  std::free(old);
}

Entry* find_or_make(DependTable* table, const void* address) {
  Entry* entry = find(table, address);
  if (entry->used) return entry;
  if (HEARTH_UNLIKELY((table->used + 1) * 4 > table->capacity * 3)) {
    make_room(table);
    entry = find(table, address);
  }
  entry->used = true;
  entry->address = address;
  entry->kind = DependKind::out;
  ++table->used;
  for (std::uint32_t i = 0; i < table->everything.size; ++i)
    add(table, entry->current, table->everything.at(i));
  return entry;
}

// Collects edges into `sink`.
struct Edges {
  Thread* self;
  DependNode* sink;
  Task* told;  // as whose predecessors a tool knows the sources; may be null if there is none
  std::int32_t count = 0;

  void from(const NodeSet& set) {
    for (std::uint32_t i = 0; i < set.size; ++i) from(set.at(i));
  }

  void from(DependNode* source) {
    if (source == sink || source->last_sink == sink) return;
    if (finished(source)) return;
    // The task of an unfinished node may finish at any moment: a tool is told first.
    if (events::active() && told != nullptr) events::task_dependence(self, source->task, told);
    DependLink* link = take_link();
    link->sink = sink;
    DependLink* head = source->successors.load(std::memory_order_acquire);
    do {
      if (HEARTH_UNLIKELY(head == kClosed)) {  // acquired, as in finished()
        put_back_link();
        return;
      }
      link->next = head;
      count_shared_write();
      // Release: pairs with the exchange in release_dependences(), which reads the link.
    } while (!source->successors.compare_exchange_weak(head, link, std::memory_order_release,
                                                       std::memory_order_acquire));
    source->last_sink = sink;
    ++count;
  }

  /// All edges are pushed. True when none of their sources is unfinished any more.
  bool close() {
    if (count == 0) return true;
    const std::int32_t taken = DependNode::kCreator - count;
    // Acquire pairs with the release in release_dependences().
    return sink->waiting_for.fetch_sub(taken, std::memory_order_acq_rel) == taken;
  }

 private:
  DependLink* take_link() {
    if (HEARTH_LIKELY(sink->links < DependNode::kOwnLinks)) return &sink->own_links[sink->links++];
    DependLinkBlock* block = sink->more_links;
    if (block == nullptr || block->used == block->capacity) {
      const std::uint32_t capacity = block == nullptr ? 16 : block->capacity * 2;
      block =
          static_cast<DependLinkBlock*>(std::malloc(sizeof(DependLinkBlock) + capacity * sizeof(DependLink)));
      if (block == nullptr) no_memory();
      *block = {sink->more_links, capacity, 0};
      sink->more_links = block;
    }
    return &block->links()[block->used++];
  }
  void put_back_link() {
    if (sink->more_links != nullptr)
      --sink->more_links->used;
    else
      --sink->links;
  }
};

bool is_shared_kind(DependKind kind) { return kind == DependKind::in || kind == DependKind::inoutset; }

bool joins(const Entry& entry, DependKind kind) {
  return is_shared_kind(kind) && entry.kind == kind && entry.current.size != 0;
}

void enter(DependTable* table, DependNode* node, const Dependence& dependence, Edges& edges) {
  if (HEARTH_UNLIKELY(dependence.all_memory)) {
    for (std::uint32_t i = 0; i < table->capacity; ++i) {
      Entry& entry = table->entries[i];
      if (!entry.used) continue;
      edges.from(entry.current);
      clear(table, entry.current);
      clear(table, entry.previous);
      entry.used = false;
    }
    table->used = 0;
    edges.from(table->everything);
    clear(table, table->everything);
    add(table, table->everything, node);
    return;
  }
  Entry& entry = *find_or_make(table, dependence.address);
  if (joins(entry, dependence.kind)) {
    edges.from(entry.previous);
  } else {
    edges.from(entry.current);
    clear(table, entry.previous);
    // Only tasks that join later look at the previous set.
    if (is_shared_kind(dependence.kind))
      entry.previous = entry.current;
    else
      clear(table, entry.current);
    entry.current = NodeSet();
    entry.kind = dependence.kind;
  }
  add(table, entry.current, node);
}

}  // namespace

void spawn_with_dependences(Thread* self, Task* task, const Dependence* list, std::size_t count) {
  DependTable*& table = self->task->depends;
  if (events::active()) events::task_dependences(self, task, list, count);
  if (HEARTH_UNLIKELY(wants_footprints(self))) {
    const bool stated = task->is(kTaskFootprint);
    take_footprint_from(self, task, list, count);
    if (events::active() && !stated && task->is(kTaskFootprint)) events::footprint(task);
  }
  if (table == nullptr) {
    // Alone in the team, every task that an earlier one could wait for has run, unless it waits for an event.
    if (count == 0 || (self->team->size == 1 && !task->is(kTaskDetachable | kTaskProxy))) {
      make_ready(self, task);
      return;
    }
    table = make_table();
  }
  DependNode* node = make_node(table, task);
  task->node = node;
  task->flags |= kTaskHasDepend;
  Edges edges{self, node, task};
  for (std::size_t i = 0; i < count; ++i) enter(table, node, list[i], edges);
  unuse(table, node);
  const bool ready = edges.close();
  if (ready) make_ready(self, task);
  if (HEARTH_UNLIKELY(self->team->locality != nullptr)) help_own_location(self, ready);
}

namespace {

void wait_as(Thread* self, const Dependence* list, std::size_t count, Task* told) {
  Task* parent = self->task;
  DependTable* table = parent->depends;
  if (table == nullptr) return;
  DependNode node;
  node.waiting_for.store(DependNode::kCreator, std::memory_order_relaxed);
  node.waiter = self->team;
  Edges edges{self, &node, told};
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].all_memory) {
      for (std::uint32_t k = 0; k < table->capacity; ++k)
        if (table->entries[k].used) edges.from(table->entries[k].current);
      edges.from(table->everything);
      continue;
    }
    const Entry& entry = *find(table, list[i].address);
    if (!entry.used)
      edges.from(table->everything);
    else
      edges.from(joins(entry, list[i].kind) ? entry.previous : entry.current);
  }
  if (!edges.close())
    wait_until(
        self->team->events, [&] { return node.waiting_for.load(std::memory_order_acquire) == 0; },
        [&](bool last_look) { return help_descendants(self, parent, last_look); });
  drop_links(&node);
}

[[gnu::cold]] void wait_told(Thread* self, const Dependence* list, std::size_t count) {
  Task stand_in;
  events::taskwait_begin(self, &stand_in, list, count);
  wait_as(self, list, count, &stand_in);
  events::taskwait_end(self, &stand_in);
}

}  // namespace

void wait_for_dependences(Thread* self, const Dependence* list, std::size_t count) {
  if (events::active())
    wait_told(self, list, count);
  else
    wait_as(self, list, count, nullptr);
}

void* successors_of(const Task* task) {
  if (!task->is(kTaskHasDepend)) return nullptr;
  DependLink* link = task->node->successors.load(std::memory_order_acquire);
  return link == kClosed ? nullptr : link;
}

void release_dependences(Thread* self, Task* task, bool by_event) {
  DependNode* node = task->node;
  Task* parent = task->parent.load(std::memory_order_relaxed);
  DependTable* table = parent->depends;
  count_shared_write();
  // Release: what the task wrote is seen by those who find it finished. Acquire: the links.
  DependLink* link = node->successors.exchange(kClosed, std::memory_order_acq_rel);
  // Newest first, so that the oldest is the one that this thread's deque gives out next.
  while (link != nullptr) {
    DependLink* const next = link->next;
    DependNode* const sink = link->sink;
    // Read before counting: then the sink may run, or the waiting thread return.
    Task* const ready = sink->task;
    Team* const waiter = sink->waiter;
    count_shared_write();
    if (sink->waiting_for.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      if (HEARTH_UNLIKELY(ready == nullptr))
        waiter->events.notify_all();
      else if (HEARTH_UNLIKELY(by_event))
        enqueue_shared(ready);
      else
        enqueue(self, ready);
    }
    link = next;
  }
  if (!let_go(node)) return;
  if (parent->children.owner.load(std::memory_order_relaxed) == self)
    keep(table, node);
  else
    give_back(table, node);
}

void drop_depend_table(Thread*, Task* parent) {
  DependTable* table = parent->depends;
  parent->depends = nullptr;
  for (std::uint32_t i = 0; i < table->capacity; ++i) {
    clear(table, table->entries[i].current);
    clear(table, table->entries[i].previous);
  }
  clear(table, table->everything);
  std::free(table->entries);
  while (table->chunks != nullptr) {
    DependTable::Chunk* chunk = table->chunks;
    table->chunks = chunk->next;
    std::free(chunk);
  }
  std::free(table);
}

}  // namespace hearth::rt
