// Fuzz target: what reads recordings never crashes, whatever a folder's files contain, and what it makes of
// them is consistent.
//
// The first byte says how much, in fours, of the input is the process's text; the rest are two spill files. So that
// mutations get past the blocks' heads, magic, number and checksum are put right when the second byte asks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "record/recording.h"

namespace {

using namespace hearth::record;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "inconsistent: %s\n", what);
  std::abort();
}

void write(const std::filesystem::path& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// One block with these records.
std::vector<char> block_of(const char* data, std::size_t size, bool sealed) {
  std::vector<std::uint64_t> words(kBlock / sizeof(std::uint64_t), 0);
  size = std::min(size, kBlock - sizeof(BlockHead));
  std::memcpy(words.data() + sizeof(BlockHead) / sizeof(std::uint64_t), data, size);
  BlockHead head{};
  head.magic = kBlockMagic;
  head.ticks = 1000;
  head.nanoseconds = 1000;
  if (sealed) {
    head.used = size / sizeof(std::uint64_t) * sizeof(std::uint64_t);
    head.checksum = checksum_of(head, words.data() + sizeof(BlockHead) / sizeof(std::uint64_t),
                                size / sizeof(std::uint64_t));
  }
  std::memcpy(words.data(), &head, sizeof head);
  std::vector<char> bytes(kBlock);
  std::memcpy(bytes.data(), words.data(), kBlock);
  return bytes;
}

template <class Index, class List>
void in_range(Index index, const List& list, const char* what) {
  require(index == kNone || index < list.size(), what);
}

void check(const Recording& r) {
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const Task& task = r.tasks[i];
    in_range(task.parent, r.tasks, "a parent");
    in_range(task.region, r.regions, "a region");
    in_range(task.thread, r.threads, "a thread");
    in_range(task.code, r.codes, "a code");
    require(task.anchor == kNone || (task.anchor & kRegionBit) != 0 || task.anchor < i,
            "an ancestor comes later");
    require(!step_name(task).empty(), "a step without a name");
  }
  for (const Region& region : r.regions) in_range(region.parent, r.tasks, "a region's parent");
  for (const Span& span : r.spans)
    require(span.task < r.tasks.size() && span.thread < r.threads.size(), "a span");
  for (const Wait& wait : r.waits) in_range(wait.task, r.tasks, "a wait");
  for (const Chunk& chunk : r.chunks) {
    require(chunk.task < r.tasks.size(), "a chunk");
    in_range(chunk.loop, r.loops, "a chunk's loop");
  }
  for (const Edge& edge : r.edges)
    require(edge.task < r.tasks.size() && edge.predecessor < r.tasks.size() && edge.task != edge.predecessor,
            "an edge");
  for (const TaskBytes& bytes : r.task_bytes) require(bytes.task < r.tasks.size(), "bytes of a task");
  for (const Decision& decision : r.decisions)
    require(decision.task < r.tasks.size() && decision.thread < r.threads.size(), "a decision");
  for (const Home& home : r.homes) require(home.allocation < r.allocations.size(), "a home");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path made =
        std::filesystem::temp_directory_path() / ("hearth-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directory(made);
    std::atexit([] {
      std::error_code error;
      std::filesystem::remove_all(
          std::filesystem::temp_directory_path() / ("hearth-fuzz-" + std::to_string(getpid())), error);
    });
    return made;
  }();
  if (size < 3) return 0;
  const auto* text = reinterpret_cast<const char*>(data) + 3;
  size -= 3;
  const std::size_t of_text = std::min(std::size_t{data[0]} * 4, size);
  const std::size_t half = (size - of_text) / 2 / 8 * 8;
  const std::string head = (data[1] & 4) != 0 ? "" : "hearth-recording 1\n";
  std::vector<char> process(head.begin(), head.end());
  process.insert(process.end(), text, text + of_text);
  write(folder / "1.process", process);
  const char* spills[2] = {text + of_text, text + of_text + half};
  const std::size_t sizes[2] = {half, size - of_text - half};
  for (int i = 0; i < 2; ++i) {
    const auto bytes = (data[1] & 1) != 0 ? block_of(spills[i], sizes[i], (data[1] & 2) != 0)
                                          : std::vector<char>(spills[i], spills[i] + sizes[i]);
    write(folder / ("1." + std::to_string(i) + ".spill"), bytes);
  }
  check(assemble(folder, [](std::uint64_t, std::uint64_t) {}));
  return 0;
}
