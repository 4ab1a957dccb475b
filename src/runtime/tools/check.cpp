#include "runtime/tools/check.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "base/kept_file.h"
#include "base/log.h"
#include "runtime/state/footprint_ranges.h"
#include "runtime/settings/settings.h"
#include "runtime/tools/page_watch.h"

namespace hearth::rt::check {

constinit bool on = false;

namespace {

constexpr int kMostNested = 4096;  // deeper tasks are not watched

// A task that has begun and not ended. Its touches lie above those of the tasks around it.
struct Running {
  Task* task;
  std::size_t first_touch;
  bool blind;
};

// All of it belongs to `watcher` while there is one; the counts may be added to by anybody.
std::atomic<Thread*> watcher{nullptr};
Running* running = nullptr;
int depth = 0;
std::atomic<std::uint64_t> without{0}, unwatched{0};
constinit KeptFile file;
pid_t process_id =
    0;  // children by fork() have files of their own as soon as they execute something, and else none
char* text = nullptr;
std::size_t text_size = 0, text_room = 0;

void write_out() {
  if (getpid() == process_id && text_size != 0 && !file.write(text, text_size))
    HEARTH_WARN_ONCE("HEARTH_CHECK: cannot write what tasks touch: %s.", std::strerror(errno));
  text_size = 0;
}

[[gnu::format(printf, 1, 2)]] void print(const char* format, ...) {
  constexpr std::size_t kLongest = 64;
  for (;;) {
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text + text_size, text_room - text_size, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if (text_size + static_cast<std::size_t>(length) < text_room) {
      text_size += static_cast<std::size_t>(length);
      break;
    }
    if (text_size == 0) return;  // a line that nothing can hold
    write_out();
  }
  if (text_room - text_size < kLongest) write_out();
}

void print_path(const char* path) {
  for (; *path != '\0'; ++path) {
    if (*path == '"' || *path == '\\') print("\\");
    print("%c", static_cast<unsigned char>(*path) < ' ' ? '?' : *path);
  }
}

void print_function(const void* function) {
  Dl_info info;
  link_map* map = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (dladdr1(function, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) {
    print("{\"module\":\"\",\"offset\":%lu", static_cast<unsigned long>(address));
    return;
  }
  char program[4096];
  const char* path = map->l_name;
  if (path == nullptr || *path == '\0') {
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    path = program;
  }
  print("{\"module\":\"");
  print_path(path);
  print("\",\"offset\":%lu", static_cast<unsigned long>(address - map->l_addr));
}

unsigned bits(const watch::Touch& touch) { return touch.written | touch.crowded << 1 | touch.runtime << 2; }

void print_touches(watch::Touch* first, watch::Touch* last) {
  std::sort(first, last, [](const watch::Touch& a, const watch::Touch& b) { return a.page < b.page; });
  const char* between = "";
  std::uint64_t begin = 0, pages = 0;
  unsigned kind = 0;
  const auto flush = [&] {
    if (pages == 0) return;
    print("%s[%lu,%lu,%u]", between, static_cast<unsigned long>(begin), static_cast<unsigned long>(pages),
          kind);
    between = ",";
  };
  while (first != last) {
    const std::uint64_t page = first->page;
    unsigned all = 0, runtime = 4;
    for (; first != last && first->page == page; ++first) {
      all |= bits(*first);
      if (!first->runtime) runtime = 0;  // the task itself has touched it, too
    }
    all = (all & 3u) | runtime;
    if (pages != 0 && page == begin + pages && all == kind) {
      ++pages;
      continue;
    }
    flush();
    begin = page;
    pages = 1;
    kind = all;
  }
  flush();
}

void write_down(const Running& what) {
  const Footprint& footprint = *what.task->footprint;
  print_function(what.task->function_of_program());
  print(",\"blind\":%d,\"ranges\":[", what.blind);
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    const FootprintRange& range = footprint.ranges[i];
    print("%s[%lu,%lu,%lu,%lu,%u,%u]", i == 0 ? "" : ",", static_cast<unsigned long>(range.begin),
          static_cast<unsigned long>(range.length), static_cast<unsigned long>(range.rows),
          static_cast<unsigned long>(range.pitch), static_cast<unsigned>(range.access), range.inferred);
  }
  print("],\"touched\":[");
  print_touches(watch::touches() + what.first_touch, watch::touches() + watch::count());
  print("]}\n");
}

bool is_watched(const Running& what) { return what.task->is(kTaskFootprint); }

void cover(const Footprint& footprint) {
  for (std::uint32_t i = 0; i < footprint.count; ++i) {
    const FootprintRange& range = footprint.ranges[i];
    for (std::uint64_t row = 0; row < range.rows; ++row) {
      const std::uint64_t begin = range.begin + row * range.pitch;
      watch::cover(begin, begin + range.length);
    }
  }
}

void interrupt(Running& what) {
  watch::close();
  what.blind = what.blind || watch::blind();
}

}  // namespace

void start() {
  const char* folder = settings().check_folder;
  if (folder == nullptr) return;
  char path[4096];
  process_id = getpid();
  std::snprintf(path, sizeof(path), "%s/%d", folder, static_cast<int>(process_id));
  const bool opened = file.open(path, O_WRONLY | O_CREAT | O_APPEND, 0600, false);
  text_room = std::size_t{1} << 16;
  text = static_cast<char*>(std::malloc(text_room));
  running = static_cast<Running*>(std::calloc(kMostNested, sizeof(Running)));
  if (!opened || text == nullptr || running == nullptr || !watch::start()) {
    warn("HEARTH_CHECK=\"%s\": cannot be used (%s); tasks are not watched.", folder, std::strerror(errno));
    return;
  }
  on_slab_chunk = leave_out;  // tasks touch descriptors when they make tasks
  on = true;
}

void task_begin(Thread* self, Task* task) {
  if (!task->is(kTaskFootprint)) without.fetch_add(1, std::memory_order_relaxed);
  Thread* nobody = nullptr;
  // Acquire pairs with the release of who watched before, in task_end().
  if (watcher.load(std::memory_order_relaxed) != self &&
      !watcher.compare_exchange_strong(nobody, self, std::memory_order_acquire, std::memory_order_relaxed)) {
    unwatched.fetch_add(task->is(kTaskFootprint), std::memory_order_relaxed);
    return;
  }
  if (depth > 0 && depth <= kMostNested && is_watched(running[depth - 1])) interrupt(running[depth - 1]);
  if (depth++ >= kMostNested) {
    unwatched.fetch_add(task->is(kTaskFootprint), std::memory_order_relaxed);
    return;
  }
  running[depth - 1] = {task, watch::count(), false};
  if (!task->is(kTaskFootprint)) return;
  cover(*task->footprint);
  watch::open();
}

void task_end(Thread* self) {
  if (watcher.load(std::memory_order_relaxed) != self) return;
  if (depth <= kMostNested) {
    Running& ending = running[depth - 1];
    if (is_watched(ending)) {
      interrupt(ending);
      write_down(ending);
      watch::forget_from(ending.first_touch);
    }
  }
  if (--depth == 0)
    watcher.store(nullptr, std::memory_order_release);  // pairs with the acquire of the next to watch
  else if (depth <= kMostNested && is_watched(running[depth - 1]))
    watch::open();
}

void leave_out(void* begin, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  watch::leave_out(first, first + bytes);
}

void finish() {
  if (!on || getpid() != process_id) return;
  print("{\"without\":%lu,\"unwatched\":%lu,\"system_calls\":%d}\n",
        static_cast<unsigned long>(without.load(std::memory_order_relaxed)),
        static_cast<unsigned long>(unwatched.load(std::memory_order_relaxed)), !watch::misses_system_calls());
  write_out();
}

}  // namespace hearth::rt::check
