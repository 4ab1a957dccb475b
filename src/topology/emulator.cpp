#include "topology/emulator.h"

#include <cstring>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace hearth::topology {

bool is_emulated() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned kFeatures = 1, kHypervisorBit = 1u << 31, kHypervisor = 0x40000000;
  unsigned most = 0, name[3] = {}, unused = 0, features = 0;
  if (__get_cpuid(kFeatures, &unused, &unused, &features, &unused) == 0 || (features & kHypervisorBit) == 0) return false;
  __cpuid(kHypervisor, most, name[0], name[1], name[2]);
  return std::memcmp(name, "TCGTCGTCGTCG", sizeof name) == 0;
#else
  return false;
#endif
}

}  // namespace hearth::topology
