// The section in which an object carries the bitcode of its file, unoptimised, for the link step. The linker drops
// it from
// programs (SHF_EXCLUDE). An object that `ld -r` made of several has several records, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::btlp {

inline constexpr char kBitcodeSection[] = ".hearth.bc";
inline constexpr char kBitcodeMagic[8] = {'H', 'E', 'A', 'R', 'T', 'H', 'B', '1'};

/// Before each file's bitcode; the next record begins at the next multiple of 8.
struct BitcodeRecord {
  char magic[8];
  std::uint64_t bytes;
};

}  // namespace hearth::btlp
