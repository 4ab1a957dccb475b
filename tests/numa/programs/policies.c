// What Hearth builds on, asked of this very kernel: every policy of mbind, page by page, what get_mempolicy
// says of it, and move_pages as query and as migration. The nodes are those that this process may use.
//
// numa-test
// numa-test name=cpuset topologies=8x1,4x4 cpus=2-5 nodes=1-2
#include "pages.h"

enum { kPages = 48 };

static int nodes[kMaxNode];
static int node_count;

static void list_nodes(void) {
  unsigned long allowed = allowed_nodes();
  for (int node = 0; node < kMaxNode; ++node) {
    if (allowed >> node & 1) nodes[node_count++] = node;
  }
  CHECK(node_count > 0);
}

static void fill(char* start) { memset(start, 1, (size_t)kPages * kPage); }

static void every_node_can_be_bound_to(void) {
  for (int i = 0; i < node_count; ++i) {
    char* start = map_pages((size_t)kPages * kPage);
    bind_pages(start, (size_t)kPages * kPage, 1ul << nodes[i]);
    fill(start);
    for (int page = 0; page < kPages; ++page) CHECK(node_of(start + page * kPage) == nodes[i]);
    int mode = -1;
    unsigned long mask = 0;
    CHECK(query_policy(&mode, &mask, start, kMpolAddress) == 0);
    CHECK(mode == kBind && mask == 1ul << nodes[i]);
    int node = -1;
    CHECK(query_policy(&node, NULL, start, kMpolNode | kMpolAddress) == 0);
    CHECK(node == nodes[i]);
    munmap(start, (size_t)kPages * kPage);
  }
}

static void interleaving_goes_round_in_order(void) {
  char* start = map_pages((size_t)kPages * kPage);
  CHECK(mbind_pages(start, (size_t)kPages * kPage, kInterleave, allowed_nodes(), 0) == 0);
  fill(start);
  int first = 0;
  while (nodes[first] != node_of(start)) CHECK(++first < node_count);
  for (int page = 0; page < kPages; ++page) {
    CHECK(node_of(start + page * kPage) == nodes[(first + page) % node_count]);
  }
  munmap(start, (size_t)kPages * kPage);
}

static void a_preferred_node_is_used_while_it_has_room(void) {
  for (int i = 0; i < node_count; ++i) {
    char* start = map_pages((size_t)kPages * kPage);
    CHECK(mbind_pages(start, (size_t)kPages * kPage, kPreferred, 1ul << nodes[i], 0) == 0);
    fill(start);
    CHECK(node_of(start + (kPages - 1) * kPage) == nodes[i]);
    munmap(start, (size_t)kPages * kPage);
  }
}

static void mbind_moves_what_is_there(void) {
  char* start = map_pages((size_t)kPages * kPage);
  bind_pages(start, (size_t)kPages * kPage, 1ul << nodes[0]);
  fill(start);
  int last = nodes[node_count - 1];
  CHECK(mbind_pages(start, (size_t)kPages * kPage, kBind, 1ul << last, kStrict | kMove) == 0);
  for (int page = 0; page < kPages; ++page) CHECK(node_of(start + page * kPage) == last);
  munmap(start, (size_t)kPages * kPage);
}

static void move_pages_deals_page_by_page(void) {
  char* start = map_pages((size_t)kPages * kPage);
  fill(start);
  void* pages[kPages];
  int wanted[kPages], status[kPages];
  for (int page = 0; page < kPages; ++page) {
    pages[page] = start + page * kPage;
    start[page * kPage] = (char)page;
    wanted[page] = nodes[page * 7 % node_count];
  }
  CHECK(move_to_nodes(kPages, pages, wanted, status) == 0);
  for (int page = 0; page < kPages; ++page) {
    CHECK(status[page] == wanted[page]);
    CHECK(node_of(pages[page]) == wanted[page]);
    CHECK(start[page * kPage] == (char)page);
  }
  munmap(start, (size_t)kPages * kPage);
}

static void an_untouched_page_has_no_node(void) {
  char* start = map_pages((size_t)kPages * kPage);
  int status = node_of(start);
  CHECK(status == -ENOENT || status == -EFAULT);
  munmap(start, (size_t)kPages * kPage);
}

static void first_touch_is_on_the_toucher_s_node(void) {
  cpu_set_t before;
  CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  unsigned long allowed = allowed_nodes();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    run_on(cpu);
    unsigned here = 0, node = 0;
    CHECK(getcpu(&here, &node) == 0);
    CHECK((int)here == cpu);
    if (!(allowed >> node & 1)) continue;  // a node without memory, or outside the cpuset
    char* start = map_pages((size_t)kPages * kPage);
    fill(start);
    for (int page = 0; page < kPages; ++page) CHECK(node_of(start + page * kPage) == (int)node);
    munmap(start, (size_t)kPages * kPage);
  }
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void nodes_that_are_not_allowed_are_refused(void) {
  char* start = map_pages(kPage);
  CHECK(mbind_pages(start, kPage, kBind, ~allowed_nodes() & ~(1ul << 63), 0) == -1);
  CHECK(errno == EINVAL);
  munmap(start, kPage);
}

int main(void) {
  list_nodes();
  every_node_can_be_bound_to();
  interleaving_goes_round_in_order();
  a_preferred_node_is_used_while_it_has_room();
  mbind_moves_what_is_there();
  move_pages_deals_page_by_page();
  an_untouched_page_has_no_node();
  first_touch_is_on_the_toucher_s_node();
  nodes_that_are_not_allowed_are_refused();
  printf("policies: %d nodes, all as expected\n", node_count);
  return 0;
}
