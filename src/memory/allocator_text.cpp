// OMP_ALLOCATOR's syntax (OpenMP 5.2, section 21.5.1):
//
//   allocator | space [ : trait=value [ , trait=value ]... ]
//
// Pure but for the allocator that it makes; called once, at start-up.
#include "base/parse.h"
#include "memory/allocators.h"

namespace hearth::memory {

namespace {

struct Word {
  std::string_view name;
  std::uintptr_t value;
};

constexpr Word kAllocators[] = {
    {"omp_default_mem_alloc", 1},
    {"omp_large_cap_mem_alloc", 2},
    {"omp_const_mem_alloc", 3},
    {"omp_high_bw_mem_alloc", 4},
    {"omp_low_lat_mem_alloc", 5},
    {"omp_cgroup_mem_alloc", 6},
    {"omp_pteam_mem_alloc", 7},
    {"omp_thread_mem_alloc", 8},
    {"ompx_gnu_pinned_mem_alloc", kPinnedMemAlloc},
};
constexpr Word kSpaces[] = {
    {"omp_default_mem_space", 0}, {"omp_large_cap_mem_space", 1}, {"omp_const_mem_space", 2},
    {"omp_high_bw_mem_space", 3}, {"omp_low_lat_mem_space", 4},
};
constexpr Word kSyncHints[] = {
    {"contended", trait::kContended},   {"uncontended", trait::kUncontended},
    {"serialized", trait::kSerialized}, {"sequential", trait::kSerialized},
    {"private", trait::kPrivate},
};
constexpr Word kAccesses[] = {
    {"all", trait::kAll},
    {"thread", trait::kThread},
    {"pteam", trait::kPteam},
    {"cgroup", trait::kCgroup},
};
constexpr Word kFallbacks[] = {
    {"default_mem_fb", trait::kDefaultMemFb},
    {"null_fb", trait::kNullFb},
    {"abort_fb", trait::kAbortFb},
    {"allocator_fb", trait::kAllocatorFb},
};
constexpr Word kPartitions[] = {
    {"environment", trait::kEnvironment},
    {"nearest", trait::kNearest},
    {"blocked", trait::kBlocked},
    {"interleaved", trait::kInterleaved},
};

struct Key {
  std::string_view name;
  TraitKey key;
};
constexpr Key kKeys[] = {
    {"sync_hint", TraitKey::sync_hint}, {"alignment", TraitKey::alignment}, {"access", TraitKey::access},
    {"pool_size", TraitKey::pool_size}, {"fallback", TraitKey::fallback},   {"fb_data", TraitKey::fb_data},
    {"pinned", TraitKey::pinned},       {"partition", TraitKey::partition},
};

template <std::size_t N>
const std::uintptr_t* find(const Word (&words)[N], std::string_view name) {
  for (const Word& word : words)
    if (same_word(word.name, name)) return &word.value;
  return nullptr;
}

template <std::size_t N>
bool take_word(const Word (&words)[N], std::string_view name, std::uintptr_t& value) {
  const std::uintptr_t* found = find(words, name);
  if (found == nullptr) return false;
  value = *found;
  return true;
}

/// The value of one trait; false: not legal for this key.
bool trait_value(TraitKey key, std::string_view text, std::uintptr_t& value) {
  if (same_word(text, "default")) {
    value = trait::kDefault;
    return true;
  }
  switch (key) {
    case TraitKey::sync_hint: return take_word(kSyncHints, text, value);
    case TraitKey::access: return take_word(kAccesses, text, value);
    case TraitKey::fallback: return take_word(kFallbacks, text, value);
    case TraitKey::fb_data: return take_word(kAllocators, text, value);
    case TraitKey::partition: return take_word(kPartitions, text, value);
    case TraitKey::pinned: {
      const Parsed<bool> parsed = parse_boolean(text);
      value = parsed.value ? trait::kTrue : trait::kFalse;
      return static_cast<bool>(parsed);
    }
    case TraitKey::alignment: {
      const Parsed<std::int64_t> parsed = parse_integer(text, 1, INT64_C(1) << 40);
      value = static_cast<std::uintptr_t>(parsed.value);
      return parsed && (value & (value - 1)) == 0;
    }
    case TraitKey::pool_size: {
      const Parsed<std::uint64_t> parsed = parse_size(text, 1);
      value = static_cast<std::uintptr_t>(parsed.value);
      return static_cast<bool>(parsed);
    }
  }
  return false;
}

}  // namespace

AllocatorText allocator_from_text(std::string_view text) {
  AllocatorText result;
  const auto column_of = [text](std::string_view part) {
    return static_cast<std::size_t>(part.data() - text.data()) + 1;
  };
  const auto fail = [&](const char* problem, std::string_view where) {
    result.problem = problem;
    result.column = column_of(where);
    return result;
  };

  const std::size_t colon = text.find(':');
  const std::string_view name = trim(text.substr(0, colon));
  if (colon == std::string_view::npos) {
    if (const std::uintptr_t* allocator = find(kAllocators, name)) {
      result.allocator = *allocator;
      return result;
    }
  }
  const std::uintptr_t* space = find(kSpaces, name);
  if (space == nullptr) {
    return fail(colon != std::string_view::npos && find(kAllocators, name) != nullptr
                    ? "traits can follow a memory space only"
                    : "unknown allocator or memory space",
                name);
  }

  Trait traits[sizeof kKeys / sizeof kKeys[0]];
  int count = 0;
  if (colon != std::string_view::npos) {
    ListReader items(text.substr(colon + 1));
    std::string_view item;
    while (items.next(item)) {
      const std::size_t equals = item.find('=');
      const std::string_view key_name = trim(item.substr(0, equals));
      const Key* key = nullptr;
      for (const Key& candidate : kKeys)
        if (same_word(candidate.name, key_name)) key = &candidate;
      if (key == nullptr) return fail("unknown trait", item);
      if (equals == std::string_view::npos) return fail("a trait needs a value", item);
      for (int i = 0; i < count; ++i)
        if (traits[i].key == static_cast<std::int32_t>(key->key))
          return fail("this trait is given twice", item);
      const std::string_view value = trim(item.substr(equals + 1));
      Trait& trait = traits[count++];
      trait.key = static_cast<std::int32_t>(key->key);
      if (!trait_value(key->key, value, trait.value))
        return fail("this value is not legal for the trait", value);
    }
  }
  result.allocator = make_allocator(*space, count, traits);
  if (result.allocator == kNullAllocator) return fail("no memory for the allocator", name);
  return result;
}

}  // namespace hearth::memory
