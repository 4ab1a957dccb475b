// Proves that the launcher refuse really takes mbind and move_pages away, and nothing that first touch needs.
//
// numa-test topologies=8x1 refuse=mbind,move_pages
#include "pages.h"

int main(void) {
  char* start = map_pages(kPage);
  CHECK(mbind_pages(start, kPage, kBind, allowed_nodes(), 0) == -1 && errno == EPERM);
  memset(start, 1, kPage);
  void* page = start;
  int status = 0;
  CHECK(move_to_nodes(1, &page, NULL, &status) == -1 && errno == EPERM);
  int node = -1;
  CHECK(query_policy(&node, NULL, start, kMpolNode | kMpolAddress) == 0 && node >= 0);
  puts("refused: mbind and move_pages answer EPERM, get_mempolicy works");
  return 0;
}
