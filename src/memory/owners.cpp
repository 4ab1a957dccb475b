// See owners.h.
#include "memory/owners.h"

namespace hearth::memory {

placement::Shares look_up(placement::ByteRange range) {
  placement::Shares shares(memory_homes().locations);
  const PageMap::Knowledge knowledge = where_is(range, shares);
  if ((knowledge.missing != 0 || knowledge.old != 0 || knowledge.untouched != 0) && learn(&range, 1)) {
    shares.clear(shares.locations);
    where_is(range, shares);
  }
  return shares;
}

}  // namespace hearth::memory
