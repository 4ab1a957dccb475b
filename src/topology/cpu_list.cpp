// See cpu_list.h.
#include "topology/cpu_list.h"

#include <utility>

namespace hearth::topology {

bool read_range(Scanner& scan, std::vector<unsigned>& cpus, ListFault& fault) {
  const std::size_t start = scan.column();
  unsigned first = 0;
  if (!scan.number(first, CpuMask::kMaxCpu)) {
    fault = {"not a CPU number", start};
    return false;
  }
  unsigned last = first;
  long stride = 1;
  if (scan.take('-')) {
    if (!scan.number(last, CpuMask::kMaxCpu)) {
      fault = {"not a CPU number", scan.column()};
      return false;
    }
    if (scan.take(':')) {
      const std::size_t stride_at = scan.column();
      const bool negative = scan.take('-');
      unsigned size = 0;
      if (!scan.number(size, CpuMask::kMaxCpu) || size == 0) {
        fault = {"not a stride", stride_at};
        return false;
      }
      stride = negative ? -static_cast<long>(size) : static_cast<long>(size);
    }
  }
  if (stride > 0 ? last < first : last > first) {
    fault = {"the range runs the wrong way", start};
    return false;
  }
  for (long cpu = first; stride > 0 ? cpu <= static_cast<long>(last) : cpu >= static_cast<long>(last); cpu += stride) {
    if (cpus.size() == kMaxEntries) {
      fault = {format("more than %zu CPUs", kMaxEntries), start};
      return false;
    }
    cpus.push_back(static_cast<unsigned>(cpu));
  }
  return true;
}

void UsableOnly::one_place_each(const std::vector<unsigned>& cpus, std::vector<CpuMask>& places) {
  for (unsigned cpu : cpus) {
    if (usable(cpu)) places.push_back({cpu});
  }
}

void UsableOnly::one_place(const std::vector<unsigned>& cpus, std::vector<CpuMask>& places) {
  CpuMask place;
  for (unsigned cpu : cpus) {
    if (usable(cpu)) place.set(cpu);
  }
  if (!place.empty()) places.push_back(std::move(place));
}

void UsableOnly::remark(const PlaceList& list, std::vector<Remark>& remarks) const {
  if (missing_.empty() || list.places.empty()) return;
  remarks.push_back({format("this process may not use CPUs %s", missing_.list().c_str()), 0, "",
                     list.size() <= 16 ? list.text() : format("%u places without them", list.size())});
}

bool UsableOnly::usable(unsigned cpu) {
  if (machine_.usable.test(cpu)) return true;
  missing_.set(cpu);
  return false;
}

}  // namespace hearth::topology
