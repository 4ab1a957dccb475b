// The section in which an object carries the bitcode of its file, unoptimised, for the link step. The linker drops
// it from programs (SHF_EXCLUDE). An object that `ld -r` made of several has several records, one after the other.
//
// LLVM's reader can crash or hang on bitcode that was damaged, so each record carries a sum that is checked first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hearth::btlp {

inline constexpr char kBitcodeSection[] = ".hearth.bc";
inline constexpr std::string_view kBitcodeMagic = "HEARTHB";
inline constexpr char kBitcodeVersion = '2';

/// Before each file's bitcode; the next record begins at the next multiple of 8.
struct BitcodeRecord {
  char magic[7];
  char version;
  std::uint64_t bytes;
  std::uint64_t sum;
};

/// Differs wherever one word differs: each step can be undone.
inline std::uint64_t sum_of(std::string_view data) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t sum = data.size();
  while (!data.empty()) {
    std::uint64_t word = 0;
    const std::size_t bytes = data.size() < sizeof(word) ? data.size() : sizeof(word);
    std::memcpy(&word, data.data(), bytes);
    sum = (sum ^ word) * kOdd;
    sum ^= sum >> 29;
    data.remove_prefix(bytes);
  }
  return sum;
}

inline BitcodeRecord record_of(std::string_view bitcode) {
  BitcodeRecord head{};
  std::memcpy(head.magic, kBitcodeMagic.data(), sizeof(head.magic));
  head.version = kBitcodeVersion;
  head.bytes = bitcode.size();
  head.sum = sum_of(bitcode);
  return head;
}

/// The bitcode of each record. Not null: what is wrong with the section, and nothing behind it was read.
inline const char* split_section(std::string_view data, std::vector<std::string_view>& found) {
  while (!data.empty()) {
    BitcodeRecord head;
    if (data.size() < sizeof(head)) return "is cut off";
    std::memcpy(&head, data.data(), sizeof(head));
    data.remove_prefix(sizeof(head));
    if (std::string_view(head.magic, sizeof(head.magic)) != kBitcodeMagic) return "is damaged";
    if (head.version != kBitcodeVersion) return "is of another version of hearth cc: compile it again";
    if (head.bytes > data.size()) return "is cut off";
    const std::string_view bitcode = data.substr(0, head.bytes);
    if (sum_of(bitcode) != head.sum) return "is damaged";
    found.push_back(bitcode);
    const std::size_t whole = (bitcode.size() + 7) / 8 * 8;
    data.remove_prefix(whole < data.size() ? whole : data.size());
  }
  return nullptr;
}

}  // namespace hearth::btlp
