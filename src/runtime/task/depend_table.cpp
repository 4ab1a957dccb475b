#include "runtime/task/depend_table.h"

#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "base/log.h"

namespace hearth::rt {
namespace {

[[noreturn]] void no_memory_for_dependences() { fatal("out of memory: no room for task dependences"); }

template <class T>
T* make_array(std::size_t n) {
  auto* array = static_cast<T*>(std::malloc(n * sizeof(T)));
  if (array == nullptr) no_memory_for_dependences();
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
  if (posix_memalign(&block, kCacheLine, kCacheLine + n * sizeof(DependNode)) != 0) no_memory_for_dependences();
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

DependLink* take_link_slowly(DependNode* sink) {
  DependLinkBlock* block = sink->more_links;
  if (block == nullptr || block->used == block->capacity) {
    const std::uint32_t capacity = block == nullptr ? 16 : block->capacity * 2;
    block =
        static_cast<DependLinkBlock*>(std::malloc(sizeof(DependLinkBlock) + capacity * sizeof(DependLink)));
    if (block == nullptr) no_memory_for_dependences();
    *block = {sink->more_links, capacity, 0};
    sink->more_links = block;
  }
  return &block->links()[block->used++];
}

void free_more_links(DependNode* node) {
  while (node->more_links != nullptr) {
    DependLinkBlock* older = node->more_links->older;
    std::free(node->more_links);
    node->more_links = older;
  }
}

void find_free_nodes(DependTable* table) {
  if (table->returned.load(std::memory_order_relaxed) != nullptr)
    table->free = table->returned.exchange(nullptr, std::memory_order_acquire);  // pairs with give_back()
  else
    add_chunk(table);
}

void give_back(DependTable* table, DependNode* node) {
  drop_links(node);
  DependNode* old = table->returned.load(std::memory_order_relaxed);
  do {
    node->next_free = old;
    count_shared_write();
    // Release pairs with the acquire in make_node(): the owner sees the list, and that nobody uses the node any more.
  } while (!table->returned.compare_exchange_weak(old, node, std::memory_order_release,
                                                  std::memory_order_relaxed));
}

void add_to_many(DependTable* table, NodeSet& set, DependNode* node) {
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

DependEntry* make_entry(DependTable* table, DependEntry* entry, const void* address) {
  if (HEARTH_UNLIKELY((table->used + 1) * 4 > table->capacity * 3)) {
    make_room(table);
    entry = find(table, address);
  }
  HEARTH_ASSERT(!entry->used && table->used * 4 <= table->capacity * 3, "%u of %u entries of the table are used",
                table->used, table->capacity);
  entry->used = true;
  entry->address = address;
  entry->kind = DependKind::out;
  ++table->used;
  for (std::uint32_t i = 0; i < table->everything.size; ++i)
    add(table, entry->current, table->everything.at(i));
  return entry;
}

}  // namespace hearth::rt
