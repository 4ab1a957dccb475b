// From addresses to objects and histories.
//
// Histories are kept byte by byte, in pages that are made when they are first touched; a sampled recording has a fixed
// number of pages, and a new one takes the place of another. Blocks of the heap and variables of stacks are marked eight
// bytes at a time, large ones as a whole. Not synchronised (the recorder holds its lock), except for may_hold().
#pragma once

#include <cstdint>

#include <atomic>

#include "btlp/recorder/arena.h"

namespace hearth::btlp::recorder {

class Places {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kLarge = 64 * kPage;

  /// Byte-exact and as large as it takes, or sampled.
  void set_exact() { exact_ = true; }
  void add_global(const void* address, std::uint64_t bytes, std::uint32_t object);
  void add_function(const void* address, const char* name) {
    functions_[reinterpret_cast<std::uint64_t>(address)] = name;
  }
  /// Memory that begins anew: nobody has touched it.
  void add(std::uint64_t address, std::uint64_t bytes, std::uint32_t object);
  /// Memory that ends.
  void forget(std::uint64_t address, std::uint64_t bytes);
  /// 0: not known.
  std::uint32_t object_at(std::uint64_t address) const;
  /// The histories of the page with this address, one for each byte.
  std::uint32_t* histories(std::uint64_t address);
  /// Can there be anything to forget? Any thread, without the lock: a page that this thread has not seen being made
  /// holds nothing of the block that it frees.
  bool may_hold(std::uint64_t address, std::uint64_t bytes) const;
  const char* function(const void* address) const;
  std::uint64_t blocks_left_out() const { return left_out_; }

 private:
  struct Slot {
    std::uint64_t page = 0;
    std::uint32_t* histories = nullptr;
  };
  struct Range {
    std::uint64_t end = 0;
    std::uint32_t object = 0;
  };
  void mark(std::uint64_t address, std::uint64_t bytes, std::uint32_t object);
  void seen(std::uint64_t page);

  static constexpr std::uint64_t kSlots = 1024;            // of a sampled recording: 16 MiB
  static constexpr std::uint64_t kMostObjectPages = 8192;  // of a sampled recording: 16 MiB
  static constexpr std::uint64_t kFilter = std::uint64_t{1} << 16U;
  bool exact_ = false;
  List<Slot> slots_;
  Table<std::uint64_t, std::uint32_t*> pages_;    // exact
  Table<std::uint64_t, std::uint32_t*> objects_;  // by page: of each eight bytes
  Ordered<std::uint64_t, Range> large_, globals_;
  Table<std::uint64_t, const char*> functions_;
  std::uint64_t last_page_ = 0;
  std::uint32_t* last_ = nullptr;
  std::uint64_t left_out_ = 0;
  std::atomic<std::uint8_t> filter_[kFilter] = {};
};

}  // namespace hearth::btlp::recorder
