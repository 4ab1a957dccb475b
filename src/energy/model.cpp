// See model.h.
#include "energy/model.h"

#include <algorithm>

namespace hearth::energy {

double modelled_joules(const Rates& rates, const Activity& activity) {
  const double all = activity.cores * activity.seconds;
  const double busy = std::min(activity.busy_core_seconds, all);
  const double cores = rates.idle_w * (all - busy) + rates.active_w * busy;
  const double lines = rates.cache_nj * activity.cache_lines + rates.memory_nj * activity.memory_lines +
                       rates.remote_nj * activity.remote_lines;
  return activity.packages * rates.uncore_w * activity.seconds + cores + lines * 1e-9 +
         rates.switch_uj * activity.switches * 1e-6;
}

}  // namespace hearth::energy
