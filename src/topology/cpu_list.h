// Lists of CPU numbers as GOMP_CPU_AFFINITY and the proclist of KMP_AFFINITY write them, and places made of them.
#pragma once

#include <string>
#include <vector>

#include "topology/machine.h"
#include "topology/places.h"
#include "topology/text.h"

namespace hearth::topology {

inline constexpr std::size_t kMaxEntries = CpuMask::kMaxCpu + 1;

struct ListFault {
  std::string wrong;
  std::size_t column = 0;
};

/// number ["-" number [":" stride]], appended in the order it names them.
bool read_range(Scanner& scan, std::vector<unsigned>& cpus, ListFault& fault);

/// Makes places of the CPUs that this process may use, and remembers the others for a remark. They are sorted out before they
/// become a mask: a mask for CPU 65535 alone is 8 KiB.
class UsableOnly {
 public:
  explicit UsableOnly(const Machine& machine) : machine_(machine) {}

  void one_place_each(const std::vector<unsigned>& cpus, std::vector<CpuMask>& places);
  void one_place(const std::vector<unsigned>& cpus, std::vector<CpuMask>& places);
  void remark(const PlaceList& list, std::vector<Remark>& remarks) const;

 private:
  bool usable(unsigned cpu);

  const Machine& machine_;
  CpuMask missing_;
};

}  // namespace hearth::topology
