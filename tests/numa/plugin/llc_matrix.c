// SPDX-License-Identifier: GPL-2.0-or-later
//
// A QEMU plugin that counts last-level-cache misses as a matrix: node of the core x home node of the memory.
//
// Each virtual CPU gets a model of an L1 and an L2 cache, each node one of a shared last-level cache, all
// LRU. They see the accesses of user code inside a region of interest, which a program marks with two NOPs
// (tests/numa/region.h). A region starts with cold caches and ends with one line of JSON appended to `out`.
//
// Coherence (lru_cache.h): reading a stale copy again is a miss that the writer's cache serves. Those are
// counted apart from the misses that memory serves, so that spinning on a shared word does not pass for memory
// traffic.
//
// Threads: QEMU runs with tcg,thread=single, so every callback comes from one host thread and nothing here is
// locked.
//
// Arguments: cpus=<node of each CPU, with dots between>, homes=<nodes that have memory, with dots between>,
// mib=<memory of each of these>, out=<file>, l1=<KiB>, l2=<KiB>, llc=<KiB per node>.
#include "lru_cache.h"
#include "qemu_plugin_api.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = kQemuPluginInterface;

struct cpu {
  struct cache l1;
  struct cache l2;
  uint64_t accesses;
  uint64_t l1_misses;
  uint64_t l2_misses;
  uint64_t llc_misses;
  // The line of the last access: nothing changes in the model when it is touched again, so that is not even
  // looked up.
  uint64_t last_virtual_line;
  uint32_t* last_word;
  uint32_t last_version;
  bool last_owned;
};

static struct {
  qemu_plugin_id_t id;
  int cpu_count;
  int node_count;
  int node_of_cpu[kMaxCpus];
  int home_count;
  int homes[kMaxNodes];
  uint64_t raw_bytes_per_home;
  uint32_t* words;  // the version word of every line of raw addresses, zero pages until touched
  uint64_t word_count;
  const char* out;
} machine;

static struct cpu cpus[kMaxCpus];
static struct cache llcs[kMaxNodes];
static uint64_t from_memory[kMaxNodes][kMaxNodes];  // node of the core, home of the line
static uint64_t from_caches[kMaxNodes][kMaxNodes];  // node of the core, node of the line's last writer

static bool inside_region;
static bool instrumented;  // since the first region began
static unsigned region_number;

static void give_up(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void give_up(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("llc_matrix: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(3);
}

static void need_cache(struct cache* cache, unsigned kib, uint32_t ways) {
  if (!make_cache(cache, kib, ways))
    give_up("a cache of %u KiB and %u ways has no power of two of sets, or there is no memory for it", kib, ways);
}

static void access_line(unsigned cpu_number, uint64_t raw, bool store) {
  struct cpu* cpu = &cpus[cpu_number];
  uint64_t wide_line = raw >> kLineShift;
  if (wide_line >= machine.word_count) return;  // a device's memory, not a node's
  uint32_t line = (uint32_t)wide_line;
  uint32_t* word = &machine.words[line];
  uint32_t before = *word;
  uint32_t writer = before & kWriterMask;
  uint32_t me = cpu_number + 1;
  *word = word_after(before, me, store);
  uint32_t version_before = before >> kVersionShift;
  uint32_t version_now = *word >> kVersionShift;
  cpu->last_word = word;
  cpu->last_version = version_now;
  cpu->last_owned = (*word & (kWriterMask | kReadByOthers)) == me;

  // A store that makes a new version updates every level; otherwise a hit hides the access from the levels
  // below.
  bool renewed = version_now != version_before;
  bool missed = !touch(&cpu->l1, line, version_before, version_now, store).present;
  cpu->l1_misses += missed;
  if (!missed && !renewed) return;
  missed &= !touch(&cpu->l2, line, version_before, version_now, store).present;
  cpu->l2_misses += missed;
  if (!missed && !renewed) return;
  int node = machine.node_of_cpu[cpu_number];
  struct found last = touch(&llcs[node], line, version_before, version_now, store);
  if (!missed || last.present) return;
  cpu->llc_misses += 1;
  if (last.stale && writer != 0) {
    from_caches[node][machine.node_of_cpu[writer - 1]] += 1;
  } else {
    uint64_t home = raw / machine.raw_bytes_per_home;
    from_memory[node][machine.homes[home]] += 1;
  }
}

static void on_access(unsigned cpu_number, qemu_plugin_meminfo_t info, uint64_t address, void* unused) {
  (void)unused;
  if (!inside_region) return;
  struct cpu* cpu = &cpus[cpu_number];
  bool store = qemu_plugin_mem_is_store(info);
  cpu->accesses += 1;
  if (address >> kLineShift == cpu->last_virtual_line && (!store || cpu->last_owned) &&
      *cpu->last_word >> kVersionShift == cpu->last_version &&
      (!store || (*cpu->last_word & kReadByOthers) == 0)) {
    return;
  }
  struct qemu_plugin_hwaddr* place = qemu_plugin_get_hwaddr(info, address);
  if (place == NULL || qemu_plugin_hwaddr_is_io(place)) return;
  uint64_t raw = qemu_plugin_hwaddr_phys_addr(place);
  access_line(cpu_number, raw, store);
  cpu->last_virtual_line = address >> kLineShift;
  // An access across two lines of one page touches both. Across two pages the second is not known; that is
  // rare.
  uint64_t last = (1u << qemu_plugin_mem_size_shift(info)) - 1;
  if (address >> kLineShift != (address + last) >> kLineShift && address >> 12 == (address + last) >> 12) {
    access_line(cpu_number, raw + last, store);
    cpu->last_virtual_line = (address + last) >> kLineShift;
  }
}

static void start_cold(void) {
  for (int i = 0; i < machine.cpu_count; ++i) {
    struct cpu* cpu = &cpus[i];
    empty_cache(&cpu->l1);
    empty_cache(&cpu->l2);
    cpu->accesses = cpu->l1_misses = cpu->l2_misses = cpu->llc_misses = 0;
    cpu->last_virtual_line = UINT64_MAX;
  }
  for (int node = 0; node < machine.node_count; ++node) empty_cache(&llcs[node]);
  memset(from_memory, 0, sizeof from_memory);
  memset(from_caches, 0, sizeof from_caches);
}

static void print_matrix(FILE* file, const char* name, uint64_t matrix[kMaxNodes][kMaxNodes]) {
  fprintf(file, ",\"%s\":[", name);
  for (int row = 0; row < machine.node_count; ++row) {
    for (int column = 0; column < machine.node_count; ++column) {
      fprintf(file, "%s%" PRIu64, column > 0 ? "," : row > 0 ? "],[" : "[", matrix[row][column]);
    }
  }
  fputs("]]", file);
}

static void report(bool complete) {
  FILE* file = fopen(machine.out, "a");
  if (file == NULL) give_up("cannot append to %s", machine.out);
  uint64_t l1 = 0, l2 = 0, llc = 0;
  fprintf(file, "{\"region\":%u,\"complete\":%s,\"accesses\":[", region_number, complete ? "true" : "false");
  for (int i = 0; i < machine.cpu_count; ++i) {
    fprintf(file, "%s%" PRIu64, i > 0 ? "," : "", cpus[i].accesses);
    l1 += cpus[i].l1_misses;
    l2 += cpus[i].l2_misses;
    llc += cpus[i].llc_misses;
  }
  fprintf(file, "],\"l1_misses\":%" PRIu64 ",\"l2_misses\":%" PRIu64 ",\"llc_misses\":%" PRIu64, l1, l2, llc);
  print_matrix(file, "memory", from_memory);
  print_matrix(file, "caches", from_caches);
  fputs("}\n", file);
  if (fclose(file) != 0) give_up("cannot write %s", machine.out);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
static void on_exit_of_qemu(qemu_plugin_id_t id, void* unused);

static void register_callbacks(qemu_plugin_id_t id) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
}

static void on_region_begin(unsigned cpu_number, void* unused) {
  (void)cpu_number, (void)unused;
  if (inside_region) return;
  start_cold();
  inside_region = true;
  region_number += 1;
  // Until the first region nothing carries memory callbacks, so the machine boots at full speed. All code is
  // translated again once, and only once: QEMU 7.2 can abort when live memory callbacks are reset.
  if (!instrumented) {
    instrumented = true;
    qemu_plugin_reset(machine.id, register_callbacks);
  }
}

static void on_region_end(unsigned cpu_number, void* unused) {
  (void)cpu_number, (void)unused;
  if (!inside_region) return;
  inside_region = false;
  report(true);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  if (qemu_plugin_tb_vaddr(tb) >> 63 != 0) return;  // the kernel's code
  // nopl 0x4E554Dxx(%rax), where xx says which mark it is
  static const uint8_t kMark[7] = {0x0f, 0x1f, 0x80, 0, 0x4d, 0x55, 0x4e};
  size_t count = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    if (qemu_plugin_insn_size(insn) == sizeof kMark) {
      const uint8_t* bytes = qemu_plugin_insn_data(insn);
      if (memcmp(bytes, kMark, 3) == 0 && memcmp(bytes + 4, kMark + 4, 3) == 0 &&
          (bytes[3] == 1 || bytes[3] == 2)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, bytes[3] == 1 ? on_region_begin : on_region_end,
                                               QEMU_PLUGIN_CB_NO_REGS, NULL);
      }
    }
    if (instrumented) {
      qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
  }
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* unused) {
  (void)id, (void)unused;
  if (inside_region) report(false);
}

// "0.0.1.3" into numbers; returns how many.
static int parse_nodes(const char* text, int* numbers, int limit) {
  int count = 0;
  while (*text != '\0') {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || value < 0 || value >= kMaxNodes || count == limit)
      give_up("bad list of nodes at \"%s\"", text);
    numbers[count++] = (int)value;
    if ((int)value >= machine.node_count) machine.node_count = (int)value + 1;
    text = *end == '.' ? end + 1 : end;
  }
  return count;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                           char** argv) {
  unsigned mib = 0, l1 = 32, l2 = 256, llc = 2048;
  machine.id = id;
  for (int i = 0; i < argc; ++i) {
    const char* value = strchr(argv[i], '=');
    if (value == NULL) give_up("\"%s\" has no value", argv[i]);
    size_t length = (size_t)(value++ - argv[i]);
#define IS(name) (length == sizeof(name) - 1 && strncmp(argv[i], name, length) == 0)
    if (IS("cpus"))
      machine.cpu_count = parse_nodes(value, machine.node_of_cpu, kMaxCpus);
    else if (IS("homes"))
      machine.home_count = parse_nodes(value, machine.homes, kMaxNodes);
    else if (IS("out"))
      machine.out = strdup(value);
    else if (IS("mib"))
      mib = (unsigned)strtoul(value, NULL, 10);
    else if (IS("l1"))
      l1 = (unsigned)strtoul(value, NULL, 10);
    else if (IS("l2"))
      l2 = (unsigned)strtoul(value, NULL, 10);
    else if (IS("llc"))
      llc = (unsigned)strtoul(value, NULL, 10);
    else
      give_up("unknown argument \"%s\"", argv[i]);
#undef IS
  }
  if (machine.out == NULL || mib == 0 || machine.home_count == 0) give_up("out, mib and homes are needed");
  if (!info->system_emulation || machine.cpu_count != info->system.smp_vcpus) {
    give_up("cpus= names %d CPUs, the machine has %d", machine.cpu_count, info->system.smp_vcpus);
  }
  // QEMU 7.2 adds the address of the memory region to the offset in the RAM block that already contains it,
  // so a home that is n-th in memory starts at 2 n sizes. programs/calibration.c proves it in every measuring
  // machine.
  machine.raw_bytes_per_home = 2ull * mib << 20;
  machine.word_count = machine.raw_bytes_per_home * (uint64_t)machine.home_count >> kLineShift;
  machine.words = mmap(NULL, machine.word_count * sizeof *machine.words, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (machine.words == MAP_FAILED) give_up("no memory for the version words");
  for (int i = 0; i < machine.cpu_count; ++i) {
    need_cache(&cpus[i].l1, l1, kL1Ways);
    need_cache(&cpus[i].l2, l2, kL2Ways);
  }
  for (int node = 0; node < machine.node_count; ++node) need_cache(&llcs[node], llc, kLlcWays);
  register_callbacks(id);
  return 0;
}
