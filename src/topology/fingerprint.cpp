#include "topology/fingerprint.h"

namespace hearth::topology {
namespace {

// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte, value >>= 8) add_byte(static_cast<unsigned char>(value));
  }
  void add(const std::string& text) {
    add(text.size());
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return value_ == 0 ? 1 : value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t fingerprint(const Machine& machine) {
  Hash hash;
  hash.add(machine.name);
  hash.add(machine.pretended);
  hash.add(machine.locations.size());
  for (const Location& location : machine.locations) {
    hash.add(static_cast<std::uint64_t>(location.kind));
    hash.add(location.cpus.count());
    hash.add(location.holds_memory);
    hash.add(location.node < 0 ? UINT64_MAX : machine.nodes[static_cast<std::size_t>(location.node)].os);
    hash.add(location.llc < 0 ? 0 : machine.llcs[static_cast<std::size_t>(location.llc)].bytes);
  }
  const Matrix<std::uint32_t>& distance = machine.location_distance;
  for (std::size_t i = 0; i < distance.size(); ++i)
    for (std::size_t j = 0; j < distance.size(); ++j) hash.add(distance.at(i, j));
  return hash.value();
}

}  // namespace hearth::topology
