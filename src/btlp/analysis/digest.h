// One number for several, in their order.
#pragma once

#include <cstdint>

namespace hearth::btlp {

class Digest {
 public:
  void add(std::uint64_t number) {
    // Scrambled first: addresses and stamps that are near each other differ in few bits, and would make up for each other.
    number = (number ^ number >> 32U) * 0xd6e8feb86659fd93U;
    number = (number ^ number >> 32U) * 0xd6e8feb86659fd93U;
    value_ = (value_ ^ number ^ number >> 32U) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 31U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace hearth::btlp
