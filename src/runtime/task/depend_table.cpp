#include "runtime/task/depend_table.h"

#include <cstdlib>
#include <new>

#include "base/log.h"
#include "runtime/sync/shared_writes.h"

namespace hearth::rt {
namespace {

[[noreturn]] void no_memory() { fatal("out of memory: no room for task dependences"); }

template <class T>
T* make_array(std::size_t n) {
  auto* array = static_cast<T*>(std::malloc(n * sizeof(T)));
  if (array == nullptr) no_memory();
  return array;
}

DependEntry* make_entries(std::uint32_t n) {
  auto* entries = make_array<DependEntry>(n);
  for (std::uint32_t i = 0; i < n; ++i) new (entries + i) DependEntry;
  return entries;
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

}  // namespace

constinit DependLink closed_mark;

DependTable* make_depend_table() {
  auto* table = new (make_array<DependTable>(1)) DependTable;
  table->capacity = DependTable::kFirstEntries;
  table->entries = make_entries(table->capacity);
  return table;
}

void free_depend_table(DependTable* table) {
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

DependLink* take_link(DependNode* sink) {
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

void put_back_link(DependNode* sink) {
  if (sink->more_links != nullptr)
    --sink->more_links->used;
  else
    --sink->links;
}

namespace {

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

}  // namespace

void let_go_of_node(Thread* self, Task* parent, DependNode* node) {
  if (!let_go(node)) return;
  if (parent->children.owner.load(std::memory_order_relaxed) == self)
    keep(parent->depends, node);
  else
    give_back(parent->depends, node);
}

void unuse(DependTable* table, DependNode* node) {
  if (--node->table_uses == 0 && let_go(node)) keep(table, node);
}

void clear(DependTable* table, NodeSet& set) {
  for (std::uint32_t i = 0; i < set.size; ++i) unuse(table, set.at(i));
  std::free(set.many);
  set = NodeSet();
}

namespace {

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

}  // namespace

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

namespace {

std::uint32_t hash(const void* address) {
  const auto x = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  return static_cast<std::uint32_t>(x * 0x9e3779b97f4a7c15u >> 32);
}

}  // namespace

DependEntry* find(const DependTable* table, const void* address) {
  const std::uint32_t mask = table->capacity - 1;
  std::uint32_t i = hash(address) & mask;
  while (table->entries[i].used && table->entries[i].address != address) i = (i + 1) & mask;
  return &table->entries[i];
}

namespace {

// Before the table grows, entries go whose tasks have all finished: a generator that names ever new addresses
// keeps only those that matter.
void make_room(DependTable* table) {
  std::uint32_t live = 0;
  for (std::uint32_t i = 0; i < table->capacity; ++i) {
    DependEntry& entry = table->entries[i];
    if (!entry.used) continue;
    prune(table, entry.current);
    prune(table, entry.previous);
    if (entry.current.size != 0)
      ++live;
    else
      clear(table, entry.previous);  // whom the current ones waited for
  }
  const std::uint32_t old_capacity = table->capacity;
  DependEntry* old = table->entries;
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

}  // namespace

DependEntry* find_or_make(DependTable* table, const void* address) {
  DependEntry* entry = find(table, address);
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

}  // namespace hearth::rt
