#include "runtime/task/depend.h"

#include "base/assert.h"
#include "runtime/locality/footprint.h"
#include "runtime/state/dependence.h"
#include "runtime/sync/wait.h"
#include "runtime/task/depend_table.h"
#include "runtime/task/ready.h"
#include "runtime/task/wait.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

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
    DependLink* link = take_link(sink);
    link->sink = sink;
    // Acquire, here and when the exchange fails: pairs with the closing exchange in release_dependences(), as in finished().
    DependLink* head = source->successors.load(std::memory_order_acquire);
    do {
      if (HEARTH_UNLIKELY(head == kClosed)) {  // acquired, as in finished()
        put_back_link(sink);
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
    if (count > 1 && sink->task != nullptr) sink->task->flags |= kTaskAfterSeveral;
    // Acquire pairs with the release in release_dependences().
    const std::int32_t before = sink->waiting_for.fetch_sub(taken, std::memory_order_acq_rel);
    HEARTH_ASSERT(before >= taken, "of %d predecessors %d have finished", count, DependNode::kCreator - before);
    return before == taken;
  }
};

bool is_shared_kind(DependKind kind) { return kind == DependKind::in || kind == DependKind::inoutset; }

bool joins(const DependEntry& entry, DependKind kind) {
  return is_shared_kind(kind) && entry.kind == kind && entry.current.size != 0;
}

void enter(DependTable* table, DependNode* node, const Dependence& dependence, Edges& edges) {
  if (HEARTH_UNLIKELY(dependence.all_memory)) {
    for (std::uint32_t i = 0; i < table->capacity; ++i) {
      DependEntry& entry = table->entries[i];
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
  DependEntry& entry = *find_or_make(table, dependence.address);
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

// Every address is found again where it stands.
[[maybe_unused]] std::uint32_t count_entries(const DependTable& table) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < table.capacity; ++i)
    count += table.entries[i].used && find(&table, table.entries[i].address) == &table.entries[i];
  return count;
}

}  // namespace

void spawn_with_dependences(Thread* self, Task* task, const Dependence* list, std::size_t count) {
  DependTable*& table = self->task->depends;
  HEARTH_ASSERT(self->task->children.owner.load(std::memory_order_relaxed) == self,
                "thread %d uses the table of a task that another thread runs", self->gtid);
  if (events::active()) events::task_dependences(self, task, list, count);
  if (HEARTH_UNLIKELY(wants_footprints(self))) {
    const bool stated = task->is(kTaskFootprint);
    take_footprint_from(self, task, list, count);
    if (events::active() && !stated && task->is(kTaskFootprint)) events::footprint(task);
    drop_told_footprint(self, task);
  }
  if (table == nullptr) {
    // Alone in the team, every task that an earlier one could wait for has run, unless it waits for an event or
    // is a target region.
    if (count == 0 || (self->team->size == 1 && !task->is(kTaskDetachable | kTaskProxy | kTaskTarget))) {
      make_ready(self, task);
      return;
    }
    table = make_depend_table();
  }
  DependNode* node = make_node(table, task);
  task->node = node;
  task->flags |= kTaskHasDepend;
  Edges edges{self, node, task};
  for (std::size_t i = 0; i < count; ++i) enter(table, node, list[i], edges);
  unuse(table, node);
  HEARTH_ASSERT_STRUCTURE(count_entries(*table) == table->used, "%u entries of the table are used, %u are counted",
                          count_entries(*table), table->used);
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
    const DependEntry& entry = *find(table, list[i].address);
    if (!entry.used)
      edges.from(table->everything);
    else
      edges.from(joins(entry, list[i].kind) ? entry.previous : entry.current);
  }
  // Acquire pairs with the release in release_dependences(): what the predecessors wrote is seen.
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
  // Pairs with the release in Edges::from(): the links are whole.
  DependLink* link = task->node->successors.load(std::memory_order_acquire);
  return link == kClosed ? nullptr : link;
}

void release_dependences(Thread* self, Task* task, bool by_event) {
  DependNode* node = task->node;
  Task* parent = task->parent.load(std::memory_order_relaxed);
  count_shared_write();
  // Release: what the task wrote is seen by those who find it finished. Acquire: the links.
  DependLink* link = node->successors.exchange(kClosed, std::memory_order_acq_rel);
  HEARTH_ASSERT(link != kClosed && node->task == task, "the task %p finishes twice, or with the node of %p",
                static_cast<void*>(task), static_cast<void*>(node->task));
  // Newest first, so that the oldest is the one that this thread's deque gives out next.
  while (link != nullptr) {
    DependLink* const next = link->next;
    DependNode* const sink = link->sink;
    // Read before counting: then the sink may run, or the waiting thread return.
    Task* const ready = sink->task;
    Team* const waiter = sink->waiter;
    count_shared_write();
    // Pairs with its like in those who finish other predecessors, and with close(). Release: what this task wrote comes
    // before the sink. Acquire: who comes last has seen what all the others wrote, and hands it on with the sink.
    const std::int32_t waiting = sink->waiting_for.fetch_sub(1, std::memory_order_acq_rel);
    HEARTH_ASSERT(waiting >= 1, "a predecessor finishes for a task that waits for %d", waiting);
    if (waiting == 1) {
      if (HEARTH_UNLIKELY(ready == nullptr))
        waiter->events.notify_all();
      else if (HEARTH_UNLIKELY(by_event))
        enqueue_shared(ready);
      else
        enqueue(self, ready);
    }
    link = next;
  }
  let_go_of_node(self, parent, node);
}

void drop_depend_table(Thread*, Task* parent) {
  free_depend_table(parent->depends);
  parent->depends = nullptr;
}

}  // namespace hearth::rt
