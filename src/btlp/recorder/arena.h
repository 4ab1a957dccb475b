// Memory of the recorder, from the kernel: the program's malloc may be in the middle of something when we are called.
//
// Nothing is given back: what the recorder keeps lives until the program ends, and its tables grow seldom. Used under the
// recorder's lock.
#pragma once

#include <cstddef>

#include <map>
#include <unordered_map>
#include <vector>

namespace hearth::btlp::recorder {

/// Zeroed, aligned to 16. Aborts when the kernel has no more.
void* take(std::size_t bytes);
/// All that was taken.
std::size_t taken();

template <typename Type>
struct Arena {
  using value_type = Type;
  Arena() = default;
  template <typename Other>
  Arena(const Arena<Other>&) {}  // NOLINT(google-explicit-constructor): as allocators have it
  Type* allocate(std::size_t count) { return static_cast<Type*>(take(count * sizeof(Type))); }
  void deallocate(Type*, std::size_t) {}
  template <typename Other>
  bool operator==(const Arena<Other>&) const {
    return true;
  }
};

template <typename Type>
using List = std::vector<Type, Arena<Type>>;
template <typename Key, typename Value, typename Hash = std::hash<Key>>
using Table = std::unordered_map<Key, Value, Hash, std::equal_to<Key>, Arena<std::pair<const Key, Value>>>;
template <typename Key, typename Value>
using Ordered = std::map<Key, Value, std::less<>, Arena<std::pair<const Key, Value>>>;

/// For keys of a few numbers.
template <typename Key>
struct BytesHash {
  std::size_t operator()(const Key& key) const {
    const auto* words = reinterpret_cast<const unsigned*>(&key);
    std::size_t hash = 0;
    for (std::size_t n = 0; n < sizeof(Key) / sizeof(unsigned); ++n) hash = (hash ^ words[n]) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 29U);
  }
};

}  // namespace hearth::btlp::recorder
