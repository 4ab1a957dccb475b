// SPDX-License-Identifier: GPL-2.0-or-later
//
// A QEMU plugin that makes the time of a virtual machine mean something: memory takes as long as a model says.
//
// Each virtual CPU has a clock of its own, in nanoseconds of the host. What its program does moves the clock: each
// instruction, each line that a cache or a node's memory serves, as long as the model says times `dilation`. When the
// clock is ahead of the host's, the CPU sleeps until the host has caught up. So emulation is hidden as long as it is
// faster than the dilated machine; where it is not, the CPU is late, and how late is reported. The guest reads the
// host's clock as always: what passes there, divided by the dilation, is modelled time.
//
// A line that memory serves takes its latency, and room at the node that serves it, on the links it crosses, and in the
// machine-wide limit, if there is one; these are leaky buckets. Lines of a stream overlap, `in_flight` at a time; any
// other line is waited for. Written lines are fetched and go back later. Caches are timed_caches.h.
//
// The kernel's code takes no time, but for pages that it moves: `migrate_call` and `migrate_page` say where the kernel
// does that, and what it takes. What lies outside marked regions (tests/numa/region.h) runs as fast as it can.
//
// Threads: one per virtual CPU (tcg,thread=multi). A struct clock belongs to its thread, caches are timed_caches.h's,
// buckets and `region` are atomic. Regions begin and end on one CPU; the others notice at their next instruction.
//
// Arguments: model=<file of lines "word numbers">, out=<file, a line of JSON per region>.
#include "timed_caches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = kQemuPluginInterface;

enum { kMaxLinks = 32, kMaxInFlight = 32, kStreams = 16, kPausesOutside = 64, kPausesOfKernel = 8, kSliceNs = 2000000 };

// When what it has been asked for so far is done, in host time. Shared by all CPUs; nothing else is ordered by it.
struct bucket {
  _Alignas(128) _Atomic int64_t busy_until;
  double line_ns;  // host nanoseconds that a line takes
};

static struct {
  qemu_plugin_id_t id;
  const char* out;
  int cpu_count;
  double dilation;
  int64_t window_ns;  // a clock may be so far ahead of the host's before its CPU sleeps
  int64_t credit_ns;  // and so far behind before it is late
  double instruction_ps;
  double pause_ps;
  double llc_ns;
  int in_flight;
  double remote_occupancy;
  double write_occupancy;
  double read_ns[kMaxNodes][kMaxNodes];
  double write_ns[kMaxNodes][kMaxNodes];
  int route_length[kMaxNodes][kMaxNodes];
  int route[kMaxNodes][kMaxNodes][kMaxLinks];
  uint64_t migrate_call, migrate_page;  // kernel addresses; 0: none
  double migrate_call_us, migrate_page_us;
} model;

static struct bucket node_bucket[kMaxNodes];
static struct bucket link_bucket[kMaxLinks];
static struct bucket coherence_bucket;

struct clock {
  _Alignas(128) int64_t at;  // host nanoseconds
  double rest;               // of a nanosecond, in picoseconds
  int64_t look_again_at;     // when `at` gets there, the host's clock is read
  unsigned region;           // that this CPU has begun
  int64_t in_flight[kMaxInFlight];
  int next_in_flight;
  uint64_t stream[kStreams];  // the line that comes next in each
  int next_stream;
  unsigned pauses;
  bool slack_set;
  // of this region:
  uint64_t lines[kMaxNodes];  // by home
  uint64_t from_caches, instructions, sleeps, calls, pages;
  int64_t late, slept;
};
static struct clock clocks[kMaxCpus];

static _Atomic unsigned region;  // odd: inside. Release by who changes it, acquire by who notices.
static int64_t region_began;

static void give_up(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("timed_memory: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(3);
}

static int64_t host_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void sleep_until(int64_t then) {
  struct timespec when = {then / 1000000000, then % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
  }
}

// The host catches up with a clock that is ahead, and a clock that is late by more than its credit is set forward.
static void keep_pace(struct clock* clock) {
  int64_t now = host_now();
  if (clock->at > now + model.window_ns) {
    if (!clock->slack_set) {
      clock->slack_set = true;
      prctl(PR_SET_TIMERSLACK, 1000);
    }
    int64_t until = clock->at < now + kSliceNs ? clock->at : now + kSliceNs;
    clock->sleeps += 1;
    clock->slept += until - now;
    sleep_until(until);
    if (until < clock->at) {  // the rest after the next instructions: other CPUs' interrupts are not to wait for it
      clock->look_again_at = clock->at;
      return;
    }
    now = until;
  } else if (clock->at < now - model.credit_ns) {
    clock->late += now - model.credit_ns - clock->at;
    clock->at = now - model.credit_ns;
  }
  clock->look_again_at = (clock->at > now ? clock->at : now) + model.window_ns;
}

static void owe(struct clock* clock, double ps) {
  clock->rest += ps * model.dilation;
  int64_t whole = (int64_t)(clock->rest * 1e-3);
  clock->at += whole;
  clock->rest -= (double)whole * 1e3;
}

static void pass(struct clock* clock, double ps) {
  owe(clock, ps);
  if (clock->at > clock->look_again_at) keep_pace(clock);
}

// Returns when so many lines that are asked for at `when` have been served. Capacity that was not used two windows ago
// is lost.
static int64_t serve(struct bucket* bucket, int64_t when, double lines) {
  int64_t cost = (int64_t)(lines * bucket->line_ns);
  int64_t busy = atomic_load_explicit(&bucket->busy_until, memory_order_relaxed);
  int64_t end;
  do {
    int64_t earliest = when - 2 * model.window_ns;
    end = (busy > earliest ? busy : earliest) + cost;
  } while (!atomic_compare_exchange_weak_explicit(&bucket->busy_until, &busy, end, memory_order_relaxed,
                                                  memory_order_relaxed));
  return end;
}

static int64_t later(int64_t one, int64_t other) { return one > other ? one : other; }

// A line of this home, fetched and, if written, brought back later. Returns when it is there.
static int64_t served_by_memory(int node, int home, bool written, bool fetched, int64_t when) {
  double share = (node != home ? model.remote_occupancy : 1) * (!fetched  ? model.write_occupancy - 1
                                                                : written ? model.write_occupancy
                                                                          : 1);
  int64_t end = serve(&node_bucket[home], when, share);
  if (fetched) {
    for (int i = 0; i < model.route_length[home][node]; ++i)
      end = later(end, serve(&link_bucket[model.route[home][node][i]], when, 1));
    if (coherence_bucket.line_ns > 0) end = later(end, serve(&coherence_bucket, when, 1));
  }
  if (written) {
    for (int i = 0; i < model.route_length[node][home]; ++i)
      end = later(end, serve(&link_bucket[model.route[node][home][i]], when, 1));
  }
  return end;
}

// Whether this line comes next in a stream of this CPU's; afterwards it is in one.
static bool follows_stream(struct clock* clock, uint64_t line) {
  for (int i = 0; i < kStreams; ++i) {
    if (clock->stream[i] != line) continue;
    clock->stream[i] = line + 1;
    return true;
  }
  clock->stream[clock->next_stream] = line + 1;
  clock->next_stream = (clock->next_stream + 1) % kStreams;
  return false;
}

// The oldest of the lines in flight has to be there before another one is asked for.
static int64_t* wait_for_room(struct clock* clock) {
  int64_t* place = &clock->in_flight[clock->next_in_flight];
  clock->next_in_flight = (clock->next_in_flight + 1) % model.in_flight;
  clock->at = later(clock->at, *place);
  return place;
}

static void on_line(unsigned cpu_number, uint64_t raw, uint64_t virtual_line, bool store) {
  struct served by = caches_touch(cpu_number, raw, store);
  if (by.whom == kByUpperCaches && !by.goes_back) return;
  struct clock* clock = &clocks[cpu_number];
  int node = cache_machine.node_of_cpu[cpu_number];
  if (by.whom == kByUpperCaches || by.whom == kByLlc) {
    bool stream = by.whom == kByUpperCaches || follows_stream(clock, virtual_line);
    int64_t* place = wait_for_room(clock);
    int64_t there = by.whom == kByLlc ? clock->at + (int64_t)(model.llc_ns * model.dilation) : clock->at;
    if (by.goes_back)
      *place = later(there, served_by_memory(node, by.home, true, false, clock->at));
    else
      *place = there;
    if (!stream) clock->at = later(clock->at, there);
  } else {
    bool stream = follows_stream(clock, virtual_line);
    int64_t* place = wait_for_room(clock);
    const double(*latency)[kMaxNodes] = store ? model.write_ns : model.read_ns;
    int64_t there = clock->at + (int64_t)(latency[node][by.home] * model.dilation);
    if (by.whom == kByMemory) {
      clock->lines[by.home] += 1;
      there = later(there, served_by_memory(node, by.home, by.goes_back, true, clock->at));
    } else {
      clock->from_caches += 1;
    }
    *place = there;
    if (!stream) clock->at = there;
  }
  if (clock->at > clock->look_again_at) keep_pace(clock);
}

// Returns the clock of this CPU if it is inside a region, having begun it.
static struct clock* running(unsigned cpu_number) {
  unsigned now = atomic_load_explicit(&region, memory_order_acquire);
  if ((now & 1) == 0) return NULL;
  struct clock* clock = &clocks[cpu_number];
  if (clock->region != now) {
    caches_begin(cpu_number);
    bool slack_set = clock->slack_set;
    *clock = (struct clock){.at = host_now(), .region = now, .slack_set = slack_set};
    clock->look_again_at = clock->at + model.window_ns;
  }
  return clock;
}

static void on_access(unsigned cpu_number, qemu_plugin_meminfo_t info, uint64_t address, void* unused) {
  (void)unused;
  if (!running(cpu_number)) return;
  bool store = qemu_plugin_mem_is_store(info);
  uint64_t line = address >> kLineShift;
  if (caches_same_line(cpu_number, line, store)) return;
  struct qemu_plugin_hwaddr* place = qemu_plugin_get_hwaddr(info, address);
  if (place == NULL || qemu_plugin_hwaddr_is_io(place)) return;
  uint64_t raw = qemu_plugin_hwaddr_phys_addr(place);
  on_line(cpu_number, raw, line, store);
  caches_was_line(cpu_number, line);
  uint64_t last = (1u << qemu_plugin_mem_size_shift(info)) - 1;
  if (line != (address + last) >> kLineShift && address >> 12 == (address + last) >> 12) {
    on_line(cpu_number, raw + last, line + 1, store);
    caches_was_line(cpu_number, line + 1);
  }
}

static void on_block(unsigned cpu_number, void* instructions) {
  struct clock* clock = running(cpu_number);
  if (clock == NULL) return;
  clock->instructions += (uintptr_t)instructions;
  pass(clock, (double)(uintptr_t)instructions * model.instruction_ps);
}

// Who spins leaves the host's cores to who works. Outside of regions, too, where a pause has no length of its own.
static void on_pause(unsigned cpu_number, void* unused) {
  (void)unused;
  struct clock* clock = running(cpu_number);
  if (clock != NULL) {
    pass(clock, model.pause_ps);
  } else if (++clocks[cpu_number].pauses % kPausesOutside == 0) {
    sleep_until(host_now() + 100000);
  }
}

// The kernel spins while it waits for another CPU, whose thread may have no core of the host.
static void on_kernel_pause(unsigned cpu_number, void* unused) {
  (void)unused;
  if (++clocks[cpu_number].pauses % kPausesOfKernel == 0) sleep_until(host_now() + 20000);
}

// A CPU that was idle starts at the host's present.
static void on_resume(qemu_plugin_id_t id, unsigned cpu_number) {
  (void)id;
  struct clock* clock = running(cpu_number);
  if (clock == NULL) return;
  clock->at = later(clock->at, host_now());
  clock->look_again_at = clock->at + model.window_ns;
}

// What the kernel takes is slept when its caller goes on: it holds locks.
static void on_migrate_call(unsigned cpu_number, void* unused) {
  (void)unused;
  struct clock* clock = running(cpu_number);
  if (clock == NULL) return;
  clock->calls += 1;
  owe(clock, model.migrate_call_us * 1e6);
}

static void on_migrate_page(unsigned cpu_number, void* unused) {
  (void)unused;
  struct clock* clock = running(cpu_number);
  if (clock == NULL) return;
  clock->pages += 1;
  owe(clock, model.migrate_page_us * 1e6);
}

static void on_region_begin(unsigned cpu_number, void* unused) {
  (void)cpu_number, (void)unused;
  if (atomic_load_explicit(&region, memory_order_relaxed) & 1) return;
  caches_new_region();
  region_began = host_now();
  atomic_fetch_add_explicit(&region, 1, memory_order_release);
}

static void print_numbers(FILE* file, const char* name, size_t offset, bool is_signed) {
  fprintf(file, ",\"%s\":[", name);
  for (int cpu = 0; cpu < model.cpu_count; ++cpu) {
    const char* field = (const char*)&clocks[cpu] + offset;
    int64_t value = clocks[cpu].region == atomic_load_explicit(&region, memory_order_relaxed) - 1
                        ? is_signed ? *(const int64_t*)field : (int64_t)*(const uint64_t*)field
                        : 0;
    fprintf(file, "%s%" PRId64, cpu > 0 ? "," : "", value);
  }
  fputc(']', file);
}

// What other CPUs still do meanwhile may be missing: a few instructions.
static void on_region_end(unsigned cpu_number, void* unused) {
  (void)cpu_number, (void)unused;
  if ((atomic_load_explicit(&region, memory_order_relaxed) & 1) == 0) return;
  unsigned number = atomic_fetch_add_explicit(&region, 1, memory_order_release);
  FILE* file = fopen(model.out, "a");
  if (file == NULL) give_up("cannot append to %s", model.out);
  fprintf(file, "{\"region\":%u,\"complete\":true,\"host_ns\":%" PRId64 ",\"dilation\":%g", number / 2 + 1,
          host_now() - region_began, model.dilation);
  fputs(",\"memory\":[", file);
  for (int row = 0; row < cache_machine.node_count; ++row) {
    for (int home = 0; home < cache_machine.node_count; ++home) {
      uint64_t lines = 0;
      for (int cpu = 0; cpu < model.cpu_count; ++cpu)
        if (cache_machine.node_of_cpu[cpu] == row && clocks[cpu].region == number) lines += clocks[cpu].lines[home];
      fprintf(file, "%s%" PRIu64, home > 0 ? "," : row > 0 ? "],[" : "[", lines);
    }
  }
  fputs("]]", file);
  print_numbers(file, "from_caches", offsetof(struct clock, from_caches), false);
  print_numbers(file, "instructions", offsetof(struct clock, instructions), false);
  print_numbers(file, "late_ns", offsetof(struct clock, late), true);
  print_numbers(file, "slept_ns", offsetof(struct clock, slept), true);
  print_numbers(file, "sleeps", offsetof(struct clock, sleeps), false);
  print_numbers(file, "calls", offsetof(struct clock, calls), false);
  print_numbers(file, "pages", offsetof(struct clock, pages), false);
  fputs("}\n", file);
  if (fclose(file) != 0) give_up("cannot write %s", model.out);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  size_t count = qemu_plugin_tb_n_insns(tb);
  if (qemu_plugin_tb_vaddr(tb) >> 63 != 0) {  // the kernel's code
    struct qemu_plugin_insn* first = qemu_plugin_tb_get_insn(tb, 0);
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < count; ++i) {
      struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
      const uint8_t* bytes = qemu_plugin_insn_data(insn);
      if (qemu_plugin_insn_size(insn) == 2 && bytes[0] == 0xf3 && bytes[1] == 0x90)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_kernel_pause, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
    if (address == model.migrate_call && address != 0)
      qemu_plugin_register_vcpu_insn_exec_cb(first, on_migrate_call, QEMU_PLUGIN_CB_NO_REGS, NULL);
    if (address == model.migrate_page && address != 0)
      qemu_plugin_register_vcpu_insn_exec_cb(first, on_migrate_page, QEMU_PLUGIN_CB_NO_REGS, NULL);
    return;
  }
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void*)count);
  // nopl 0x4E554Dxx(%rax), where xx says which mark it is: 1 and 3 begin, 2 and 4 end
  static const uint8_t kMark[7] = {0x0f, 0x1f, 0x80, 0, 0x4d, 0x55, 0x4e};
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const uint8_t* bytes = qemu_plugin_insn_data(insn);
    size_t size = qemu_plugin_insn_size(insn);
    if (size == sizeof kMark && memcmp(bytes, kMark, 3) == 0 && memcmp(bytes + 4, kMark + 4, 3) == 0 && bytes[3] >= 1 &&
        bytes[3] <= 4) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, bytes[3] % 2 == 1 ? on_region_begin : on_region_end,
                                             QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
    if (size == 2 && bytes[0] == 0xf3 && bytes[1] == 0x90)
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause, QEMU_PLUGIN_CB_NO_REGS, NULL);
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
  }
}

// Lines of the model: a word and its numbers. Bandwidths are in GB/s, so a line takes 64 / GB/s nanoseconds.
static void take_word(const char* word, const double* n, int count) {
#define IS(name, least) (strcmp(word, name) == 0 && count >= (least))
  const double line_bytes = 1 << kLineShift;
  if (IS("dilation", 1))
    model.dilation = n[0];
  else if (IS("window_us", 1))
    model.window_ns = (int64_t)(n[0] * 1e3);
  else if (IS("credit_us", 1))
    model.credit_ns = (int64_t)(n[0] * 1e3);
  else if (IS("instruction_ps", 1))
    model.instruction_ps = n[0];
  else if (IS("pause_ps", 1))
    model.pause_ps = n[0];
  else if (IS("llc_ns", 1))
    model.llc_ns = n[0];
  else if (IS("in_flight", 1) && n[0] >= 1 && n[0] <= kMaxInFlight)
    model.in_flight = (int)n[0];
  else if (IS("remote_occupancy", 1))
    model.remote_occupancy = n[0];
  else if (IS("write_occupancy", 1))
    model.write_occupancy = n[0];
  else if (IS("read", 3))
    model.read_ns[(int)n[0]][(int)n[1]] = n[2];
  else if (IS("write", 3))
    model.write_ns[(int)n[0]][(int)n[1]] = n[2];
  else if (IS("node_gbs", 2))
    node_bucket[(int)n[0]].line_ns = line_bytes / n[1];
  else if (IS("link_gbs", 2))
    link_bucket[(int)n[0]].line_ns = line_bytes / n[1];
  else if (IS("coherence_gbs", 1))
    coherence_bucket.line_ns = line_bytes / n[0];
  else if (IS("route", 3)) {
    int from = (int)n[0], to = (int)n[1];
    model.route_length[from][to] = count - 2;
    for (int i = 2; i < count; ++i) model.route[from][to][i - 2] = (int)n[i];
  } else if (IS("migrate", 4)) {
    model.migrate_call = 0xffffffff00000000u + (uint64_t)n[0];
    model.migrate_page = 0xffffffff00000000u + (uint64_t)n[1];
    model.migrate_call_us = n[2];
    model.migrate_page_us = n[3];
  } else if (!caches_take_word(word, n, count))
    give_up("the model has \"%s\" with %d numbers", word, count);
#undef IS
}

static void read_model(const char* name) {
  FILE* file = fopen(name, "r");
  if (file == NULL) give_up("cannot read %s", name);
  char line[1024];
  while (fgets(line, sizeof line, file) != NULL) {
    char* rest = NULL;
    char* word = strtok_r(line, " \n", &rest);
    if (word == NULL) continue;
    double numbers[kMaxCpus + 2];
    int count = 0;
    for (char* text; (text = strtok_r(NULL, " \n", &rest)) != NULL && count < kMaxCpus + 2;)
      numbers[count++] = strtod(text, NULL);
    take_word(word, numbers, count);
  }
  fclose(file);
  for (int i = 0; i < kMaxNodes; ++i) node_bucket[i].line_ns *= model.dilation;
  for (int i = 0; i < kMaxLinks; ++i) link_bucket[i].line_ns *= model.dilation;
  coherence_bucket.line_ns *= model.dilation;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  model.id = id;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "model=", 6) == 0)
      read_model(argv[i] + 6);
    else if (strncmp(argv[i], "out=", 4) == 0)
      model.out = strdup(argv[i] + 4);
    else
      give_up("unknown argument \"%s\"", argv[i]);
  }
  if (model.out == NULL || model.dilation < 1 || model.in_flight < 1 || model.window_ns < 1)
    give_up("out, model: incomplete");
  if (!info->system_emulation) give_up("no system is emulated");
  model.cpu_count = info->system.smp_vcpus;
  caches_make(model.cpu_count);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_resume_cb(id, on_resume);
  return 0;
}
