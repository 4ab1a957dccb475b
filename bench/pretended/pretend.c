// Clocks, homes and buckets of the pretended machine.
//
// Every thread has a clock in nanoseconds of the host, which is ahead of the host's while it sleeps; one that has slept
// too long makes up for it. What serves bytes (a node's memory, a link, the machine-wide limit) is a leaky bucket: when
// what it was asked for so far is done. Nobody asks ahead of its own clock, or what lies between would be lost. Buckets
// and homes are atomic and order nothing else.
#include "pretend.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "hearth/memory.h"
#include "kernel.h"
#include "model.h"

#pragma weak hearth_location
#pragma weak hearth_mem_migrate
#pragma weak hearth_mem_locate

enum { kLine = 64, kPieces = 4 };
static const size_t kSpace = (size_t)1 << 38, kAddresses = (size_t)1 << 47;
static const int64_t kCreditNs = 100000000;  // what a clock may make up for
static const int64_t kSlackNs = 5000000;     // what a bucket may: capacity that was not used so long ago is lost

static char* space;
static _Atomic size_t used;
static _Atomic bool moves_expected;
static _Atomic signed char* homes;  // by page of all addresses: node + 1, 0: nobody has touched it
static _Atomic uint64_t counted[kMostNodes][kMostNodes], moved;

struct bucket {
  _Alignas(128) _Atomic int64_t busy_until;
};
static struct bucket node_bucket[kMostNodes], link_bucket[kMostLinks], coherence_bucket;

static _Thread_local struct {
  int64_t at;
  int seat;                    // node + 1; 0: where the runtime has it
  size_t moved_last[kPieces];  // by piece of a call: the page after the last one that it found moved
} clock_of_thread;

static int64_t host_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void pretend_open(void) {
  kernel_cpu();
  space = mmap(NULL, kSpace, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  homes = mmap(NULL, kAddresses / kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED || homes == MAP_FAILED) {
    perror("pretend: mmap");
    exit(2);
  }
  space += -(uintptr_t)space & (kBlock - 1);
}

char* pretend_pages(size_t bytes) {
  const size_t blocks = (bytes + kBlock - 1) / kBlock;
  return space + atomic_fetch_add_explicit(&used, blocks * kBlock, memory_order_relaxed);
}

int pretend_nodes(void) { return model.nodes; }
int pretend_cores(void) { return model.nodes * model.cores; }
int pretend_node(void) {
  if (clock_of_thread.seat > 0) return clock_of_thread.seat - 1;
  if (!hearth_location) return kernel_cpu() / model.cores;
  const int location = hearth_location();
  if (location >= 0) return location;
  fputs("pretend: hearth_location() does not say where a thread is\n", stderr);
  exit(2);
}
void pretend_sit(int node) { clock_of_thread.seat = node + 1; }
double pretend_seconds(void) { return (double)host_now() * 1e-9 / model.dilation; }

void pretend_arrive(void) {
  clock_of_thread.at = host_now();
  prctl(PR_SET_TIMERSLACK, 1000);
}

void pretend_begin(double seconds) {
  const int64_t then = (int64_t)(seconds * 1e9 * model.dilation);
  if (clock_of_thread.at == 0) prctl(PR_SET_TIMERSLACK, 1000);
  if (clock_of_thread.at < then) clock_of_thread.at = then;
}

double pretend_end(void) { return (double)clock_of_thread.at * 1e-9 / model.dilation; }

static void sleep_until(int64_t then) {
  const struct timespec when = {then / 1000000000, then % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
  }
}

static int64_t later(int64_t one, int64_t other) { return one > other ? one : other; }

static int64_t serve(struct bucket* bucket, int64_t when, double bytes, double gbs) {
  if (gbs <= 0 || bytes <= 0) return when;
  const int64_t cost = (int64_t)(bytes / gbs * model.dilation);
  int64_t busy = atomic_load_explicit(&bucket->busy_until, memory_order_relaxed), end;
  do {
    end = later(busy, when - kSlackNs) + cost;
  } while (!atomic_compare_exchange_weak_explicit(&bucket->busy_until, &busy, end, memory_order_relaxed,
                                                  memory_order_relaxed));
  return end;
}

// Bytes from one node to another, or back and forth, at this time. Returns when the last that serves them is done.
static int64_t carried(int node, int home, double bytes, bool written, int64_t when) {
  const double asked = bytes * (written ? model.write_occupancy : 1) * (node != home ? model.remote_occupancy : 1);
  int64_t end = serve(&node_bucket[home], when, asked, model.node_gbs);
  for (int i = 0; i < model.route_length[home][node]; ++i) {
    const int link = model.route[home][node][i];
    end = later(end, serve(&link_bucket[link], when, bytes, model.link_gbs[link]));
  }
  for (int i = 0; written && i < model.route_length[node][home]; ++i) {
    const int link = model.route[node][home][i];
    end = later(end, serve(&link_bucket[link], when, bytes, model.link_gbs[link]));
  }
  return later(end, serve(&coherence_bucket, when, bytes, model.coherence_gbs));
}

// The node where Hearth says that a page is, or -1.
static int told_home(size_t page) {
  int told = HEARTH_NOWHERE;
  // An address that is only asked about.
  const char* at = (const char*)(page * kPage);  // NOLINT(performance-no-int-to-ptr)
  return hearth_mem_locate && hearth_mem_locate(at, kPage, &told) == 0 && told >= 0 ? told : -1;
}

// Sees to the home of a page: as Hearth says, if it has noted one. Who finds it moved has moved it, and pays: for the
// page, for a call where the page before was not moved, and for what the copy takes of both nodes. Adds the time that
// takes alone; returns when it has been served.
static int64_t settle_home(size_t page, int node, int64_t when, size_t* moved_last, double* alone_ns) {
  const int home = atomic_load_explicit(&homes[page], memory_order_relaxed) - 1;
  if (home < 0) {
    atomic_store_explicit(&homes[page], (signed char)(node + 1), memory_order_relaxed);
    return when;
  }
  if (!atomic_load_explicit(&moves_expected, memory_order_relaxed)) return when;
  const int told = told_home(page);
  if (told < 0 || told == home) return when;
  atomic_store_explicit(&homes[page], (signed char)(told + 1), memory_order_relaxed);
  *alone_ns += 1e3 * (model.page_us + (*moved_last == page ? 0 : model.call_us));
  *moved_last = page + 1;
  atomic_fetch_add_explicit(&moved, 1, memory_order_relaxed);
  return later(carried(node, home, kPage, false, when), carried(node, told, kPage, true, when));
}

// Adds the bytes of a piece to those of their homes.
static void add_by_home(const struct pretend_piece* piece, double by_home[kMostNodes]) {
  const size_t last = (size_t)piece->at + piece->bytes;
  for (size_t at = (size_t)piece->at, stop; at < last; at = stop) {
    stop = (at / kPage + 1) * kPage < last ? (at / kPage + 1) * kPage : last;
    by_home[atomic_load_explicit(&homes[at / kPage], memory_order_relaxed) - 1] += (double)(stop - at);
  }
}

void pretend_work(double cycles, const struct pretend_piece* pieces, int count) {
  const int node = pretend_node();
  const int64_t now = host_now();
  const int64_t start = later(clock_of_thread.at, now - kCreditNs);
  double alone_ns = 0;
  int64_t end = start;
  for (int i = 0; i < count; ++i) {
    const size_t first = (size_t)pieces[i].at / kPage, last = ((size_t)pieces[i].at + pieces[i].bytes - 1) / kPage;
    for (size_t page = first; page <= last; ++page)
      end = later(end, settle_home(page, node, start, &clock_of_thread.moved_last[i % kPieces], &alone_ns));
  }
  for (int i = 0; i < count; ++i) {
    const bool written = pieces[i].written;
    double by_home[kMostNodes] = {0};
    add_by_home(&pieces[i], by_home);
    for (int home = 0; home < model.nodes; ++home) {
      if (by_home[home] == 0) continue;
      atomic_fetch_add_explicit(&counted[node][home], (uint64_t)by_home[home], memory_order_relaxed);
      alone_ns += by_home[home] / kLine / (pieces[i].strided ? model.strided_in_flight : model.in_flight) *
                  (written ? model.write_ns : model.read_ns)[node][home];
      end = later(end, carried(node, home, by_home[home], written, start));
    }
  }
  const double computing_ns = cycles / model.clock_ghz;
  alone_ns = fmax(computing_ns, alone_ns) + (1 - model.overlap) * fmin(computing_ns, alone_ns);
  end = later(end, start + (int64_t)(alone_ns * model.dilation));
  clock_of_thread.at = end;
  if (end > now) sleep_until(end);
}

void pretend_use_all(const struct pretend_piece* pieces, int count) { pretend_work(0, pieces, count); }

void pretend_use(const char* at, size_t bytes, bool written) {
  pretend_use_all(&(struct pretend_piece){at, bytes, written, false}, 1);
}

static void settle(char* at, size_t bytes, int node) {
  bool distributed = false;
  for (size_t page = (size_t)at / kPage; page * kPage < (size_t)at + bytes; ++page) {
    const int told = told_home(page);
    distributed |= told >= 0;
    atomic_store_explicit(&homes[page], (signed char)((told >= 0 ? told : node) + 1), memory_order_relaxed);
  }
  if (distributed || !hearth_mem_migrate) return;
  if (hearth_mem_migrate(at, bytes, node) != 0 && errno != EALREADY) {
    perror("pretend: hearth_mem_migrate");
    exit(2);
  }
}

void pretend_expect_moves(void) { atomic_store_explicit(&moves_expected, true, memory_order_relaxed); }

void pretend_touch(char* at, size_t bytes) { settle(at, bytes, pretend_node()); }

void pretend_deal(char* at, size_t bytes, size_t each, const int* nodes, int count) {
  for (size_t done = 0; done < bytes; done += each) settle(at + done, each, nodes[done / each % (size_t)count]);
}

void pretend_forget(void) {
  for (int node = 0; node < model.nodes; ++node)
    for (int home = 0; home < model.nodes; ++home) atomic_store_explicit(&counted[node][home], 0, memory_order_relaxed);
  atomic_store_explicit(&moved, 0, memory_order_relaxed);
}

uint64_t pretend_bytes(int node, int home) { return atomic_load_explicit(&counted[node][home], memory_order_relaxed); }
uint64_t pretend_moved_pages(void) { return atomic_load_explicit(&moved, memory_order_relaxed); }
