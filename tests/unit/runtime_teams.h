// Regions and tasks for the runtime's unit tests, written with its own calls: what a compiler's code does through
// the ABI, without the ABI.
#pragma once

#include <functional>
#include <utility>

#include "runtime/state/region.h"
#include "runtime/state/thread.h"
#include "runtime/task/create.h"
#include "runtime/task/depend.h"
#include "runtime/team/fork.h"

namespace hearth::rt {

/// A parallel region of `threads` members, each of which calls body(self).
inline void run_region(int threads, const std::function<void(Thread*)>& body) {
  Region region;
  region.function = reinterpret_cast<void*>(static_cast<void (*)(void*)>(
      [](void* data) { (*static_cast<const std::function<void(Thread*)>*>(data))(Thread::current()); }));
  region.data = const_cast<std::function<void(Thread*)>*>(&body);
  region.num_threads = threads;
  parallel(Thread::current(), region);
}

/// A child of the current task that will call body(), not adopted yet.
inline Task* make_child(Thread* self, std::function<void()> body, std::uint32_t flags = kTaskTied) {
  Task* task = new_task(self, 0, flags);
  task->data = new std::function<void()>(std::move(body));
  task->function = [](void* data) {
    auto* function = static_cast<std::function<void()>*>(data);
    (*function)();
    delete function;
  };
  return task;
}

inline void spawn_child(Thread* self, std::function<void()> body, std::uint32_t flags = kTaskTied) {
  spawn(self, make_child(self, std::move(body), flags));
}

}  // namespace hearth::rt
