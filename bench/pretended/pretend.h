// A machine that is pretended: its cores are threads that sleep, its memory is a table of homes and a model of what
// bytes cost.
//
// A program of this folder says what its threads use (pretend_use) instead of using it. The call sleeps for as long as
// the model says that these bytes take the core on which the runtime has put the thread, times a dilation that makes
// the runtime's own time and the host's small. So 16 cores need no more than one, and the real runtimes decide what
// they always decide: who runs where, in which team, on whose data.
//
// Where a thread is: under Hearth, which pretends machines itself (HEARTH_MACHINE), what hearth_location() says. Under
// another runtime, the core to which it has bound itself, and of one that is not bound, the core that kernel.c's rules
// give it. Where a page is: with who touched it first, unless Hearth has put it elsewhere.
//
// All functions may be called by any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kBlock = 64 * 1024, kPage = 4096 };  // homes are kept by page

/// Before all else. The model is there by then: kernel.c has read the file that PRETEND_MODEL names.
void pretend_open(void);
/// Addresses for data that nobody has touched yet. There is no memory behind them.
char* pretend_pages(size_t bytes);

/// The caller begins work: its clock starts from now.
void pretend_arrive(void);
/// The caller begins what may begin at this time (pretend_seconds): its clock goes on to then, but not back. Whoever
/// is late makes up for it, so what the runtime takes to find work for an idle thread is not in the time.
void pretend_begin(double seconds);
/// When the caller's last use was done.
double pretend_end(void);
/// The caller reads or writes a piece: sleeps until that is done. The first touch of a page makes the caller's node
/// its home.
void pretend_use(const char* at, size_t bytes, bool written);
/// Several pieces, which advance in lock step.
struct pretend_piece {
  const char* at;
  size_t bytes;
  bool written;
  bool strided;  // lines that are far apart, fewer of which are in flight
};
void pretend_use_all(const struct pretend_piece* pieces, int count);
/// The same while the caller computes for so many cycles.
void pretend_work(double cycles, const struct pretend_piece* pieces, int count);
/// First touch without its time. Tells Hearth, too, whom no kernel can tell; memory that Hearth has distributed is
/// where that says. Whole pages.
void pretend_touch(char* at, size_t bytes);
/// From here on Hearth's calls may move pages, so it is asked about each that is used.
void pretend_expect_moves(void);
/// First touch of pieces of so many bytes, whole pages, dealt out over these nodes.
void pretend_deal(char* at, size_t bytes, size_t each, const int* nodes, int count);

int pretend_nodes(void);
int pretend_cores(void);
/// Of the calling thread.
int pretend_node(void);
/// The calling thread is on this node, whatever the runtime thinks: for calibration. -1: as the runtime thinks.
void pretend_sit(int node);
/// Seconds of the pretended machine since some time.
double pretend_seconds(void);

/// Bytes by the node that used them and their home, and pages that moved, since the last pretend_forget().
void pretend_forget(void);
uint64_t pretend_bytes(int node, int home);
uint64_t pretend_moved_pages(void);
