#include "sim/cost/set_caches.h"

#include <algorithm>

namespace hearth::sim {
namespace {

// e^-x by plain arithmetic, the same on every machine, as far as the figures of a model go.
double decay(double x) {
  double power = 1 - x / 65536;
  for (int i = 0; i < 16; ++i) power *= power;
  return power;
}

/// Fewer than `ways` when `mean` are expected.
double fewer(std::uint32_t ways, double mean) {
  double term = decay(mean), sum = 0;
  for (std::uint32_t k = 0; k < ways; ++k) {
    sum += term;
    term *= mean / (k + 1);
  }
  return std::min(sum, 1.0);
}

std::uint64_t bytes_before(const Extent& extent, std::uint64_t end) {
  if (end <= extent.offset) return 0;
  const std::uint64_t from_start = end - extent.offset;
  if (extent.rows == 1 || extent.pitch == 0) return std::min(from_start, extent.length);
  const std::uint64_t row = from_start / extent.pitch;
  if (row >= extent.rows) return extent.bytes();
  return row * extent.length + std::min(from_start % extent.pitch, extent.length);
}

}  // namespace

std::uint64_t overlap(const Extent& one, const Extent& other) {
  if (one.region != other.region) return 0;
  const Extent& few = one.rows <= other.rows ? one : other;
  const Extent& many = one.rows <= other.rows ? other : one;
  std::uint64_t sum = 0, begin = few.offset;
  for (std::uint32_t row = 0; row < few.rows; ++row, begin += few.pitch)
    sum += bytes_before(many, begin + few.length) - bytes_before(many, begin);
  return sum;
}

SetCaches::SetCaches(std::size_t caches, std::uint64_t bytes, std::uint32_t ways)
    : capacity_(ways == 0 ? 0 : bytes), caches_(caches) {
  for (std::size_t step = 0; step <= kSteps; ++step)
    kept_.push_back(fewer(ways, 2.0 * static_cast<double>(step) / kSteps * ways));
}

double SetCaches::kept(std::uint64_t distance) const {
  if (distance >= 2 * capacity_) return 0;
  const double at = static_cast<double>(distance) * kSteps / (2.0 * static_cast<double>(capacity_));
  const auto step = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(step);
  return kept_[step] * (1 - part) + kept_[step + 1] * part;
}

std::uint64_t SetCaches::use(std::size_t cache, const Extent& extent, bool write) {
  if (capacity_ == 0) return 0;
  const std::uint64_t bytes = extent.bytes();
  std::vector<Entry>& entries = caches_[cache];
  // Lines of the extent itself are as far apart as the extent is long.
  std::uint64_t distance = bytes, left = bytes;
  double held = 0;
  std::size_t i = entries.size();
  while (i-- > 0 && distance < 2 * capacity_) {
    Entry& entry = entries[i];
    const std::uint64_t before = entry.bytes;
    if (left != 0) {
      const std::uint64_t common = std::min({overlap(entry.extent, extent), entry.bytes, left});
      // Half of what they do not have in common came in between, on average.
      held += static_cast<double>(common) * kept(distance + (before - common) / 2);
      entry.bytes -= common;
      left -= common;
    }
    distance += entry.bytes;
  }
  // What is farther away than that has left the cache.
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i + 1));
  std::erase_if(entries, [](const Entry& entry) { return entry.bytes == 0; });
  entries.push_back({extent, bytes});
  if (write) {
    for (std::size_t other = 0; other < caches_.size(); ++other) {
      if (other == cache) continue;
      for (Entry& entry : caches_[other]) {
        // The lines stay where they are, but hold nothing of use.
        if (const std::uint64_t common = std::min(overlap(entry.extent, extent), entry.bytes); common != 0)
          entry.bytes -= common;
      }
    }
  }
  return std::min(bytes, static_cast<std::uint64_t>(held + 0.5));
}

}  // namespace hearth::sim
