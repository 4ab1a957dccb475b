// OpenMP's allocators: traits, pools, fallbacks, and OMP_ALLOCATOR's syntax.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "memory/allocators.h"

namespace hearth::memory {
namespace {

constexpr std::int32_t key(TraitKey k) { return static_cast<std::int32_t>(k); }

AllocatorHandle make(std::vector<Trait> traits, std::uintptr_t space = 0) {
  return make_allocator(space, static_cast<int>(traits.size()), traits.data());
}

bool is_aligned(void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

TEST(Allocators, EveryPredefinedOneGivesMemory) {
  for (AllocatorHandle allocator = kDefaultMemAlloc; allocator <= kThreadMemAlloc; ++allocator) {
    void* block = allocate(allocator, 1, 1000);
    ASSERT_NE(block, nullptr) << allocator;
    EXPECT_TRUE(is_aligned(block, alignof(std::max_align_t)));
    std::memset(block, 1, 1000);
    release(block);
  }
}

TEST(Allocators, ZeroBytesAndOddAlignmentsGiveNull) {
  EXPECT_EQ(allocate(kDefaultMemAlloc, 1, 0), nullptr);
  EXPECT_EQ(allocate(kDefaultMemAlloc, 24, 100), nullptr);
  EXPECT_EQ(allocate(kDefaultMemAlloc, 0, 100), nullptr);
  EXPECT_EQ(allocate_zeroed(kDefaultMemAlloc, 1, SIZE_MAX / 2, 3), nullptr);
  EXPECT_EQ(allocate(kDefaultMemAlloc, 1, SIZE_MAX - 8), nullptr);
  release(nullptr);
}

TEST(Allocators, TheLargerOfTheTwoAlignmentsIsKept) {
  const AllocatorHandle allocator = make({{key(TraitKey::alignment), 256}});
  for (std::size_t alignment : {1, 64, 256, 4096}) {
    void* block = allocate(allocator, alignment, 100);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned(block, alignment > 256 ? alignment : 256));
    std::memset(block, 7, 100);
    release(block);
  }
  destroy_allocator(allocator);
}

TEST(Allocators, IllegalTraitsGiveNoAllocator) {
  EXPECT_EQ(make({{key(TraitKey::alignment), 48}}), kNullAllocator);
  EXPECT_EQ(make({{key(TraitKey::alignment), 0}}), kNullAllocator);
  EXPECT_EQ(make({{key(TraitKey::sync_hint), trait::kAll}}), kNullAllocator);
  EXPECT_EQ(make({{key(TraitKey::access), trait::kPrivate}}), kNullAllocator);
  EXPECT_EQ(make({{key(TraitKey::fallback), 15}}), kNullAllocator);
  EXPECT_EQ(make({{key(TraitKey::pinned), 2}}), kNullAllocator);
  EXPECT_EQ(make({{key(TraitKey::partition), 19}}), kNullAllocator);
  EXPECT_EQ(make({{99, 0}}), kNullAllocator);
  EXPECT_EQ(make({}, 77), kNullAllocator);
}

TEST(Allocators, EveryTraitIsKept) {
  const AllocatorHandle allocator = make({{key(TraitKey::sync_hint), trait::kPrivate},
                                          {key(TraitKey::alignment), 64},
                                          {key(TraitKey::access), trait::kPteam},
                                          {key(TraitKey::pool_size), 1 << 20},
                                          {key(TraitKey::fallback), trait::kNullFb},
                                          {key(TraitKey::fb_data), 3},
                                          {key(TraitKey::pinned), trait::kFalse},
                                          {key(TraitKey::partition), trait::kBlocked}},
                                         3);
  const Traits traits = traits_of(allocator);
  EXPECT_EQ(traits.memory_space, 3u);
  EXPECT_EQ(traits.sync_hint, trait::kPrivate);
  EXPECT_EQ(traits.alignment, 64u);
  EXPECT_EQ(traits.access, trait::kPteam);
  EXPECT_EQ(traits.pool_size, 1u << 20);
  EXPECT_EQ(traits.fallback, trait::kNullFb);
  EXPECT_EQ(traits.fallback_allocator, 3u);
  EXPECT_FALSE(traits.pinned);
  EXPECT_EQ(traits.partition, trait::kBlocked);
  destroy_allocator(allocator);
}

TEST(Allocators, DefaultValuesLeaveTheTraitsAlone) {
  const AllocatorHandle allocator = make({{key(TraitKey::alignment), trait::kDefault},
                                          {key(TraitKey::pool_size), trait::kDefault},
                                          {key(TraitKey::fallback), trait::kDefault},
                                          {key(TraitKey::pinned), trait::kDefault}});
  ASSERT_NE(allocator, kNullAllocator);
  EXPECT_EQ(traits_of(allocator).fallback, trait::kDefaultMemFb);
  EXPECT_EQ(traits_of(allocator).alignment, 1u);
  destroy_allocator(allocator);
}

TEST(Allocators, AFullPoolGivesNullUnderNullFb) {
  const AllocatorHandle allocator =
      make({{key(TraitKey::pool_size), 4096}, {key(TraitKey::fallback), trait::kNullFb}});
  void* first = allocate(allocator, 1, 3000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(allocate(allocator, 1, 3000), nullptr);
  release(first);
  EXPECT_EQ(pool_used(allocator), 0u);
  void* again = allocate(allocator, 1, 3000);
  EXPECT_NE(again, nullptr);
  release(again);
  destroy_allocator(allocator);
}

TEST(Allocators, AFullPoolFallsBackToTheDefaultMemory) {
  const AllocatorHandle allocator = make({{key(TraitKey::pool_size), 1000}, {key(TraitKey::alignment), 128}});
  void* block = allocate(allocator, 1, 5000);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(pool_used(allocator), 0u);
  release(block);
  destroy_allocator(allocator);
}

TEST(Allocators, AFullPoolFallsBackToTheOtherAllocator) {
  const AllocatorHandle large = make({{key(TraitKey::pool_size), 100000}, {key(TraitKey::alignment), 512}});
  const AllocatorHandle little = make({{key(TraitKey::pool_size), 1000},
                                       {key(TraitKey::fallback), trait::kAllocatorFb},
                                       {key(TraitKey::fb_data), large}});
  void* block = allocate(little, 1, 5000);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(is_aligned(block, 512));
  EXPECT_EQ(pool_used(little), 0u);
  EXPECT_GE(pool_used(large), 5000u);
  release(block);
  EXPECT_EQ(pool_used(large), 0u);
  destroy_allocator(little);
  destroy_allocator(large);
}

TEST(AllocatorsDeathTest, AFullPoolAbortsUnderAbortFb) {
  const AllocatorHandle allocator =
      make({{key(TraitKey::pool_size), 100}, {key(TraitKey::fallback), trait::kAbortFb}});
  EXPECT_DEATH(allocate(allocator, 1, 1000), "hearth: .*abort_fb cannot allocate 1000 bytes \\(pool_size 100\\)");
  destroy_allocator(allocator);
}

// Threads fill a pool that has room for exactly so many blocks: all of those are given, and none more.
TEST(Allocators, PoolsAreExactUnderConcurrency) {
  constexpr std::size_t kBlock = 100 + 32;  // with its header
  constexpr int kRoom = 1000;
  const AllocatorHandle allocator =
      make({{key(TraitKey::pool_size), kBlock * kRoom}, {key(TraitKey::fallback), trait::kNullFb}});
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> given{0};
    std::vector<std::thread> threads;
    std::vector<std::vector<void*>> blocks(4);
    for (auto& mine : blocks)
      threads.emplace_back([&] {
        for (int i = 0; i < kRoom; ++i)
          if (void* block = allocate(allocator, 1, 100)) {
            mine.push_back(block);
            ++given;
          }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(given, kRoom);
    EXPECT_EQ(pool_used(allocator), kBlock * kRoom);
    for (auto& mine : blocks)
      for (void* block : mine) release(block);
    ASSERT_EQ(pool_used(allocator), 0u);
  }
  destroy_allocator(allocator);
}

TEST(Allocators, ZeroedMemoryIsZero) {
  const AllocatorHandle allocator = make({{key(TraitKey::alignment), 64}});
  for (int round = 0; round < 8; ++round) {
    auto* bytes = static_cast<unsigned char*>(allocate_zeroed(allocator, 128, 100, 10));
    ASSERT_NE(bytes, nullptr);
    EXPECT_TRUE(is_aligned(bytes, 128));
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(bytes[i], 0);
    std::memset(bytes, 0xff, 1000);
    release(bytes);
  }
  destroy_allocator(allocator);
}

TEST(Allocators, ReallocationKeepsContentAlignmentAndAccounts) {
  const AllocatorHandle allocator = make({{key(TraitKey::alignment), 256},
                                          {key(TraitKey::pool_size), 8000},
                                          {key(TraitKey::fallback), trait::kNullFb}});
  auto* block = static_cast<char*>(allocate(allocator, 1, 100));
  for (int i = 0; i < 100; ++i) block[i] = static_cast<char>(i);
  // Growing to more than half of the pool works, since the old block's bytes count for the new one.
  block = static_cast<char*>(reallocate(block, 6000, kNullAllocator));
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(is_aligned(block, 256));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(block[i], static_cast<char>(i));
  EXPECT_GE(pool_used(allocator), 6000u);
  EXPECT_LE(pool_used(allocator), 8000u);
  EXPECT_EQ(reallocate(block, 9000, allocator), nullptr);  // and the block is as it was
  EXPECT_EQ(block[99], 99);
  block = static_cast<char*>(reallocate(block, 50, allocator));
  EXPECT_EQ(block[49], 49);
  EXPECT_LT(pool_used(allocator), 1000u);
  block = static_cast<char*>(reallocate(block, 60, kDefaultMemAlloc));  // to another allocator
  EXPECT_EQ(block[49], 49);
  EXPECT_EQ(pool_used(allocator), 0u);
  EXPECT_EQ(reallocate(block, 0, kDefaultMemAlloc), nullptr);
  destroy_allocator(allocator);
}

TEST(Allocators, PinnedMemoryIsLocked) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers swallow mlock()";
#endif
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur < 65536 && geteuid() != 0) GTEST_SKIP() << "this process may not lock memory";
  const AllocatorHandle allocator =
      make({{key(TraitKey::pinned), trait::kTrue}, {key(TraitKey::fallback), trait::kNullFb}});
  ASSERT_NE(allocator, kNullAllocator);
  void* block = allocate(allocator, 1, 10000);
  if (block == nullptr) GTEST_SKIP() << "mlock is forbidden here";
  // mlock() made the pages present before anybody touched them.
  unsigned char present[4] = {};
  const auto page = reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{4095};
  ASSERT_EQ(mincore(reinterpret_cast<void*>(page), 8192, present), 0);
  EXPECT_TRUE((present[0] & 1) && (present[1] & 1));
  release(block);
  destroy_allocator(allocator);
}

TEST(AllocatorText, PredefinedAllocatorsAndSpaces) {
  EXPECT_EQ(allocator_from_text("omp_high_bw_mem_alloc").allocator, 4u);
  EXPECT_EQ(allocator_from_text("  OMP_Thread_Mem_Alloc ").allocator, 8u);
  const AllocatorText text = allocator_from_text("omp_large_cap_mem_space");
  ASSERT_GT(text.allocator, kLastPredefined);
  EXPECT_EQ(traits_of(text.allocator).memory_space, 1u);
  destroy_allocator(text.allocator);
}

TEST(AllocatorText, Traits) {
  const AllocatorText text = allocator_from_text(
      "omp_default_mem_space: alignment=64, pool_size=1m, pinned=false, fallback=allocator_fb, "
      "fb_data=omp_const_mem_alloc,"
      "sync_hint=uncontended,access=cgroup,partition=interleaved");
  ASSERT_EQ(text.problem, nullptr) << text.problem << " at " << text.column;
  const Traits traits = traits_of(text.allocator);
  EXPECT_EQ(traits.alignment, 64u);
  EXPECT_EQ(traits.pool_size, 1u << 20);
  EXPECT_EQ(traits.fallback, trait::kAllocatorFb);
  EXPECT_EQ(traits.fallback_allocator, 3u);
  EXPECT_EQ(traits.sync_hint, trait::kUncontended);
  EXPECT_EQ(traits.access, trait::kCgroup);
  EXPECT_EQ(traits.partition, trait::kInterleaved);
  destroy_allocator(text.allocator);
}

TEST(AllocatorText, SaysWhatIsWrongAndWhere) {
  const struct {
    const char* text;
    const char* problem;
    std::size_t column;
  } cases[] = {
      {"omp_fast_mem_alloc", "unknown allocator or memory space", 1},
      {"", "unknown allocator or memory space", 1},
      {"omp_const_mem_alloc:alignment=8", "traits can follow a memory space only", 1},
      {"omp_const_mem_space:alignment=7", "this value is not legal for the trait", 31},
      {"omp_const_mem_space:size=7", "unknown trait", 21},
      {"omp_const_mem_space:pinned", "a trait needs a value", 21},
      {"omp_const_mem_space:pinned=true,pinned=true", "this trait is given twice", 33},
      {"omp_const_mem_space:", "unknown trait", 21},
  };
  for (const auto& one : cases) {
    const AllocatorText text = allocator_from_text(one.text);
    EXPECT_EQ(text.allocator, kNullAllocator) << one.text;
    ASSERT_NE(text.problem, nullptr) << one.text;
    EXPECT_STREQ(text.problem, one.problem) << one.text;
    EXPECT_EQ(text.column, one.column) << one.text;
  }
}

}  // namespace
}  // namespace hearth::memory
