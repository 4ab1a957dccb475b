#include "runtime/binding/locations.h"

#include "memory/homes.h"
#include "runtime/settings/settings.h"
#include "topology/system_root.h"

namespace hearth::rt {
namespace {

bool kernel_has_several_nodes() {
  topology::CpuMask nodes;
  return topology::SystemRoot().read_list("/sys/devices/system/node/online", nodes) && nodes.count() > 1;
}

}  // namespace

bool has_several_locations() {
  const Settings& s = settings();
  if (s.machine.empty() && !s.llc_locations && !kernel_has_several_nodes()) return false;
  return memory::memory_homes().several();
}

}  // namespace hearth::rt
