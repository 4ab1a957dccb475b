// See locality.h.
#include "report/locality.h"

namespace hearth::report {

Locality locality_of(const Run& run) {
  Locality out;
  out.nodes = run.nodes;
  if (run.nodes <= 1)
    out.why_unknown = "the machine has one memory node, so that none of it is remote";
  else
    out.why_unknown = "the recording does not have where the data lay";
  return out;
}

}  // namespace hearth::report
