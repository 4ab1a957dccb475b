// Clang's entry points for task reductions: translators to runtime/task/task_reduction.h. Any thread of the
// program. A reduction's descriptor is the taskgroup that it belongs to.
#include <cstdint>
#include <cstdlib>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "base/log.h"
#include "runtime/tools/events.h"
#include "runtime/task/task_reduction.h"

namespace rt = hearth::rt;
using rt::ReductionItem;
using rt::Thread;

namespace {

struct TaskredInput {  // kmp_taskred_input_t
  void* shared;
  void* original;
  std::size_t size;
  void* init;
  void (*fini)(void*);
  void (*combine)(void*, void*);
  std::uint32_t flags;
};

struct OldTaskredInput {  // kmp_task_red_input_t: before OpenMP 5.0's original variables
  void* shared;
  std::size_t size;
  void* init;
  void (*fini)(void*);
  void (*combine)(void*, void*);
  std::uint32_t flags;
};

ReductionItem item_of(const TaskredInput& in) {
  return {in.shared, in.original != nullptr ? in.original : in.shared, in.size, in.init, in.fini, in.combine};
}
ReductionItem item_of(const OldTaskredInput& in) {
  return {in.shared, nullptr, in.size, in.init, in.fini, in.combine};
}

template <class Input, class Use>
void* with_items(std::int32_t count, void* data, Use use) {
  const auto n = count > 0 ? static_cast<std::size_t>(count) : 0;
  auto* items = static_cast<ReductionItem*>(std::malloc((n + 1) * sizeof(ReductionItem)));
  if (items == nullptr) hearth::fatal("out of memory: no room for %zu reductions", n);
  for (std::size_t i = 0; i < n; ++i) items[i] = item_of(static_cast<const Input*>(data)[i]);
  void* group = use(items, n);
  std::free(items);
  return group;
}

template <class Input>
void* init(std::int32_t count, void* data) {
  return with_items<Input>(count, data, [](const ReductionItem* items, std::size_t n) {
    return rt::register_reductions(Thread::current(), items, n);
  });
}

template <class Input>
void* modifier_init(std::int32_t is_worksharing, std::int32_t count, void* data) {
  return with_items<Input>(count, data, [is_worksharing](const ReductionItem* items, std::size_t n) {
    return rt::begin_shared_reductions(Thread::current(), is_worksharing != 0, items, n);
  });
}

}  // namespace

HEARTH_EXPORT void* __kmpc_task_reduction_init(std::int32_t, std::int32_t count, void* data) {
  return init<OldTaskredInput>(count, data);
}

HEARTH_EXPORT void* __kmpc_taskred_init(std::int32_t, std::int32_t count, void* data) {
  return init<TaskredInput>(count, data);
}

HEARTH_EXPORT void* __kmpc_task_reduction_modifier_init(ident_t*, std::int32_t, std::int32_t is_worksharing,
                                                        std::int32_t count, void* data) {
  return modifier_init<OldTaskredInput>(is_worksharing, count, data);
}

HEARTH_EXPORT void* __kmpc_taskred_modifier_init(ident_t*, std::int32_t, std::int32_t is_worksharing,
                                                 std::int32_t count, void* data) {
  return modifier_init<TaskredInput>(is_worksharing, count, data);
}

HEARTH_EXPORT void __kmpc_task_reduction_modifier_fini(ident_t*, std::int32_t, std::int32_t is_worksharing) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::end_shared_reductions(self, is_worksharing != 0);
}

HEARTH_EXPORT void* __kmpc_task_reduction_get_th_data(std::int32_t, void* group, void* variable) {
  return rt::private_copy(Thread::current(), static_cast<rt::Taskgroup*>(group), variable);
}
