// links: hearth_placement
// How long the owners of a managed range take to find: every distribution, 1 GiB and one page, 8 locations
// (and 6, where no shift replaces the division).
#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>

#include <benchmark/benchmark.h>

#include "placement/owner_table.h"

namespace {

using namespace hearth::placement;

constexpr std::uint64_t kBase = std::uint64_t{1} << 40;
constexpr std::size_t kManaged = std::size_t{64} << 30;
constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

int block_cyclic(std::size_t block, std::size_t, int locations, void*) {
  return static_cast<std::int32_t>(block / 3 % static_cast<std::size_t>(locations));
}

void owner_query(benchmark::State& state, Kind kind, std::int32_t locations, std::uint64_t bytes) {
  Homes homes;
  for (std::int32_t i = 0; i < locations; ++i) homes.at[homes.count++] = i;
  const std::uint32_t weights[] = {4, 1, 1, 2, 4, 1, 1, 2};
  const Shape equal = make_shape(homes, nullptr), weighted = make_shape(homes, weights);
  const std::size_t needed = OwnerTable::bytes_needed(kManaged);
  void* memory =
      mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  OwnerTable table;
  table.attach(memory, kBase, kManaged);

  const Distribution what{.kind = kind, .owner = block_cyclic, .block_bytes = 65536};
  const std::size_t blocks = kGib / what.block_bytes;
  void* block_memory = std::calloc(1, BlockTable::bytes_needed(blocks, homes));
  BlockTable custom;
  if (kind == Kind::custom) custom = BlockTable(block_memory, what, homes, blocks, what.block_bytes);
  const std::uint64_t begin = table.find_free(kGib / OwnerTable::kGranule);
  table.enter(
      {begin, begin + kGib, lay_out(what, {begin, kGib, 4096, 2, 5}, homes, &equal, &weighted, custom)});

  // Another range each time, so that no branch is learnt by heart.
  std::uint64_t starts[256];
  for (std::uint64_t i = 0; i < 256; ++i)
    starts[i] = begin + ((i + 1) * 0x9e3779b97f4a7c15u >> 20) % (kGib - bytes + 1);
  std::size_t i = 0;
  for (auto _ : state) {
    const std::uint64_t start = starts[i++ % 256];
    Shares shares(locations);
    table.add_shares({start, start + bytes}, shares);
    benchmark::DoNotOptimize(shares);
  }
  std::free(block_memory);
  munmap(memory, needed);
}

void every_kind() {
  for (const Kind kind : {Kind::coarse, Kind::fine, Kind::blocked, Kind::weighted, Kind::custom})
    for (const std::int32_t locations : {8, 6})
      for (const std::uint64_t bytes : {kGib, std::uint64_t{128} << 10}) {
        const std::string name = std::string("owner_query/") + kind_name(kind) +
                                 "/locations:" + std::to_string(locations) +
                                 (bytes == kGib ? "/1GiB" : "/128KiB");
        benchmark::RegisterBenchmark(name.c_str(), owner_query, kind, locations, bytes);
      }
}

const bool registered = [] {
  every_kind();
  return true;
}();

}  // namespace
