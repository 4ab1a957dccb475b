#include "record/reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "base/parse.h"
#include "record/short_forms.h"

namespace hearth::record {
namespace {

constexpr std::size_t kBlockWords = kBlock / sizeof(std::uint64_t);
constexpr std::size_t kHeadWords = sizeof(BlockHead) / sizeof(std::uint64_t);

/// The number of words if the first word is that of a record that may stand there, or 0.
std::size_t whole_record(std::uint64_t first, std::size_t room) {
  const unsigned kind = kind_of(first);
  const unsigned words = words_of(first);
  if (kind == 0 || kind >= kKinds || words > room || words < kWords[kind]) return 0;
  const unsigned more = words - kWords[kind];
  const unsigned item = item_words(static_cast<Kind>(kind));
  if (item == 0 ? more != 0 : more % item != 0) return 0;
  return words;
}

class SpillReader {
 public:
  SpillReader(const std::string& name, const std::function<void(const Record&)>& visit,
              std::vector<Problem>& problems)
      : name_(name), visit_(visit), problems_(problems) {}

  SpillSummary read(std::istream& in, std::istream* open) {
    std::uint64_t blocks = 0;
    for (std::size_t got; (got = next_block(in)) != 0; ++blocks) {
      complain_of_cut(blocks, got);
      read_block(blocks, got);
    }
    if (open == nullptr) return std::move(summary_);
    // It may have become part of the spill file just as the program was killed.
    const std::size_t got = next_block(*open);
    const std::uint64_t number = got < sizeof(BlockHead) ? blocks : block_[offsetof(BlockHead, number) / sizeof(block_[0])];
    if (got == 0 || (number < blocks && got == kBlock)) return std::move(summary_);
    if (number > blocks) complain(blocks, "up to block " + std::to_string(number) + " all blocks are missing");
    complain_of_cut(number, got);
    read_block(number, got);
    return std::move(summary_);
  }

 private:
  /// Into block_. The bytes of it that there are; 0: none, or it was allocated and not used.
  std::size_t next_block(std::istream& in) {
    in.read(reinterpret_cast<char*>(block_.data()), static_cast<std::streamsize>(kBlock));
    const auto got = static_cast<std::size_t>(in.gcount());
    // What the end of the file has torn off reads as zeros.
    std::fill(reinterpret_cast<char*>(block_.data()) + got, reinterpret_cast<char*>(block_.data() + kBlockWords), '\0');
    return block_[0] == 0 ? 0 : got;
  }

  void complain_of_cut(std::uint64_t number, std::size_t got) {
    if (got == kBlock) return;
    summary_.cut = true;
    complain(number, "the file ends within the block");
  }

  void complain(std::uint64_t block, const std::string& what) {
    problems_.push_back({name_ + ", block " + std::to_string(block), what});
  }

  void read_block(std::uint64_t number, std::size_t got) {
    BlockHead head;
    std::memcpy(&head, block_.data(), sizeof head);
    if (got < sizeof head) return;
    const std::uint64_t* const words = block_.data() + kHeadWords;
    std::size_t room = got / sizeof(std::uint64_t) - kHeadWords;
    const bool sealed = head.checksum != 0;
    if (head.magic != kBlockMagic || head.number != number) {
      ++summary_.damaged_blocks;
      complain(number, "this is no block of a recording; it is left out");
      return;
    }
    if (sealed && got == kBlock) {
      if (head.used % sizeof(std::uint64_t) != 0 || head.used / sizeof(std::uint64_t) > room ||
          checksum_of(head, words, head.used / sizeof(std::uint64_t)) != head.checksum) {
        ++summary_.damaged_blocks;
        complain(number, "the checksum is wrong; the block is left out");
        return;
      }
      room = head.used / sizeof(std::uint64_t);
    }
    ++summary_.blocks;
    if (summary_.clock.size() == 2) summary_.clock.pop_back();
    summary_.clock.push_back({head.ticks, head.nanoseconds});
    std::uint64_t now = head.ticks;
    forms_.begin_block();
    for (std::size_t at = 0; at < room && words[at] != 0;) {
      const std::size_t size = whole_record(words[at], room - at);
      if (size == 0) {
        // Torn off with the file's end, which is said; else something has written into the file.
        if (got == kBlock) {
          ++summary_.damaged_blocks;
          complain(number,
                   "what stands at word " + std::to_string(at) + " is no record; the rest is left out");
        }
        break;
      }
      Record record;
      const unsigned kind = kind_of(words[at]);
      record.kind = static_cast<Kind>(kind);
      record.ticks = now = ticks_of(words[at], now);
      record.words = words + at + 1;
      const unsigned item = item_words(record.kind);
      record.items = item == 0 ? 0 : (size - kWords[kind]) / item;
      if (!forms_.expand(record.kind, record.words, record.items)) {
        ++summary_.damaged_blocks;
        complain(number, "what stands at word " + std::to_string(at) + " goes on with nothing; the rest is left out");
        break;
      }
      if (record.kind == Kind::thread_end) summary_.ended = true;
      if (record.kind == Kind::stopped) summary_.stopped = true;
      ++summary_.records;
      visit_(record);
      at += size;
    }
  }

  const std::string& name_;
  const std::function<void(const Record&)>& visit_;
  std::vector<Problem>& problems_;
  std::vector<std::uint64_t> block_ = std::vector<std::uint64_t>(kBlockWords);
  ShortForms forms_;
  SpillSummary summary_;
};

// ---- text files

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t blank = rest_.find(' ');
    const std::string_view word = rest_.substr(0, blank);
    rest_ = blank == std::string_view::npos ? std::string_view() : rest_.substr(blank + 1);
    return word;
  }
  std::string_view rest() const { return rest_; }
  template <class Integer>
  bool number(Integer& value, int base = 10) {
    const std::string_view word = next();
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value, base);
    return !word.empty() && result.ec == std::errc() && result.ptr == word.data() + word.size();
  }

 private:
  std::string_view rest_;
};

constexpr std::size_t kMostLocations = 1024;
constexpr std::size_t kMostWords = 256;

/// The rest of a line.
bool read_numbers(Words& words, std::vector<std::uint32_t>& out) {
  while (!words.rest().empty()) {
    std::uint32_t number = 0;
    if (out.size() == kMostLocations || !words.number(number)) return false;
    out.push_back(number);
  }
  return !out.empty();
}

/// A line about the machine, or about the numbers of its runtime.
bool read_machine_line(std::string_view key, Words& words, ProcessText& out) {
  MachineText& machine = out.machine;
  if (key == "machine") {
    int pretended = 0;
    if (!words.number(pretended)) return false;
    machine.pretended = pretended != 0;
    for (std::string* const text : {&machine.source, &machine.kind, &machine.distances, &machine.policy, &machine.name})
      *text = unescape(words.next());
    return machine.told = true;
  }
  if (key == "location") {
    LocationText& one = machine.locations.emplace_back();
    int holds = 0;
    if (machine.locations.size() > kMostLocations || !words.number(one.node) || !words.number(holds) ||
        !words.number(one.bytes)) {
      machine.locations.pop_back();
      return false;
    }
    one.holds_memory = holds != 0;
    one.cpus = words.rest() == "-" ? "" : words.rest();
    return true;
  }
  if (key == "distances" || key == "latencies") {
    std::size_t location = 0;
    if (!words.number(location) || location >= machine.locations.size()) return false;
    LocationText& one = machine.locations[location];
    std::vector<std::uint32_t>& row = key == "distances" ? one.distances : one.latencies;
    row.clear();
    return read_numbers(words, row);
  }
  if (key == "slit") {
    auto& [node, row] = out.slit.emplace_back();
    return out.slit.size() <= kMostLocations && words.number(node) && read_numbers(words, row);
  }
  if (key == "why" || key == "distribution") {
    std::size_t number = 0;
    std::vector<std::string>& all = key == "why" ? out.whys : out.distributions;
    if (!words.number(number) || number >= kMostWords) return false;
    if (number >= all.size()) all.resize(number + 1);
    all[number] = unescape(words.rest());
    return true;
  }
  return false;
}

/// Of a runtime that tells nothing: what the kernel says.
void take_nodes_for_locations(ProcessText& out) {
  MachineText& machine = out.machine;
  machine.locations.clear();
  machine.source = "sysfs";
  machine.kind = "node";
  for (const auto& [node, cpus] : out.nodes) {
    LocationText& one = machine.locations.emplace_back();
    one.node = node;
    one.holds_memory = true;
    one.cpus = cpus == "-" ? "" : cpus;
    const auto row = std::find_if(out.slit.begin(), out.slit.end(), [n = node](const auto& r) { return r.first == n; });
    if (row == out.slit.end()) continue;
    one.distances = row->second;
    machine.distances = "slit";
  }
}

bool read_line(std::string_view line, ProcessText& out) {
  Words words(line);
  const std::string_view key = words.next();
  if (key == "process") return words.number(out.pid) && words.number(out.parent_pid);
  if (key == "runtime") return !(out.runtime = unescape(words.rest())).empty();
  if (key == "host") return out.host = unescape(words.rest()), true;
  if (key == "command") return out.command = unescape(words.rest()), true;
  if (key == "end") return out.ended = true;
  if (key == "clock") {
    ClockPair pair;
    std::uint64_t realtime = 0;
    if (!words.number(pair.ticks) || !words.number(pair.nanoseconds) || !words.number(realtime)) return false;
    if (out.clock.empty()) out.realtime = realtime;
    out.clock.push_back(pair);
    return true;
  }
  if (key == "node") {
    int node = 0;
    if (!words.number(node)) return false;
    out.nodes.emplace_back(node, words.rest());
    return true;
  }
  if (key == "module") {
    Module module;
    if (!words.number(module.base, 16) || !words.number(module.begin, 16) || !words.number(module.end, 16))
      return false;
    module.path = unescape(words.rest());
    out.modules.push_back(std::move(module));
    return true;
  }
  if (key == "untold") {
    int result = 0;
    if (!words.number(result)) return false;
    out.untold.emplace_back(words.rest());
    return true;
  }
  if (key == "thread") {
    std::uint32_t thread = 0;
    std::uint64_t blocks = 0;
    if (!words.number(thread) || !words.number(blocks)) return false;
    out.threads.emplace_back(thread, blocks);
    return true;
  }
  if (key == "allocation") {
    AllocationText one;
    if (!words.number(one.ticks) || !words.number(one.address, 16) || !words.number(one.bytes, 16) ||
        !words.number(one.code, 16))
      return false;
    out.allocations.push_back(one);
    return true;
  }
  if (key == "block") {
    AllocationText one;
    if (!words.number(one.ticks) || !words.number(one.address, 16) || !words.number(one.bytes, 16) ||
        !words.number(one.code, 16) || !words.number(one.facts))
      return false;
    out.blocks.push_back(one);
    return true;
  }
  if (key == "freed") {
    std::uint64_t ticks = 0, address = 0;
    if (!words.number(ticks) || !words.number(address, 16)) return false;
    out.frees.emplace_back(address, ticks);
    return true;
  }
  if (key == "lost_faults") {
    std::uint64_t lost = 0;
    if (!words.number(lost)) return false;
    out.lost_faults += lost;
    return true;
  }
  if (key == "problem" || key == "stopped" || key == "faults_refused") {
    int error = 0;
    if (!words.number(error)) return false;
    (key == "stopped" ? out.stopped : key == "problem" ? out.counters_refused : out.faults_refused) = std::strerror(error);
    return true;
  }
  return read_machine_line(key, words, out);
}

}  // namespace

SpillSummary read_spill(std::istream& in, const std::string& name, const std::function<void(const Record&)>& visit,
                        std::vector<Problem>& problems, std::istream* open) {
  return SpillReader(name, visit, problems).read(in, open);
}

ProcessText read_process(std::istream& in, const std::string& name, std::vector<Problem>& problems) {
  ProcessText out;
  std::string line;
  std::size_t number = 0;
  while (std::getline(in, line)) {
    ++number;
    if (number == 1 && line.size() == 18 && line.starts_with("hearth-recording ") && line[17] >= '1' && line[17] <= '4') continue;
    if (number == 1) {
      problems.push_back({name + ", line 1", "this is no recording of this version"});
      return out;
    }
    if (in.eof() || !read_line(line, out))  // without an end, it was torn off
      problems.push_back(
          {name + ", line " + std::to_string(number), "cannot be read: \"" + line.substr(0, 80) + "\""});
  }
  if (number == 0) problems.push_back({name, "the file is empty"});
  if (!out.machine.told) take_nodes_for_locations(out);
  return out;
}

std::vector<ProcessFiles> find_processes(const std::filesystem::path& folder,
                                         std::vector<Problem>& problems) {
  std::map<std::string, ProcessFiles> found;
  std::map<std::pair<std::string, std::uint32_t>, ThreadFiles> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    const std::string stem = path.stem().string();
    if (path.extension() == ".process") {
      found[stem].text = path;
    } else if (path.extension() == ".spill" || path.extension() == ".open") {
      const std::size_t dot = stem.rfind('.');
      std::uint32_t thread = 0;
      if (dot == std::string::npos ||
          std::from_chars(stem.data() + dot + 1, stem.data() + stem.size(), thread).ptr !=
              stem.data() + stem.size()) {
        problems.push_back({path.string(), "the name is none of a recording's files"});
        continue;
      }
      ThreadFiles& files = threads[{stem.substr(0, dot), thread}];
      files.thread = thread;
      (path.extension() == ".open" ? files.open : files.spill) = path;
    }
  }
  if (error) problems.push_back({folder.string(), error.message()});
  for (auto& [which, files] : threads) found[which.first].threads.push_back(std::move(files));
  std::vector<ProcessFiles> processes;
  for (auto& [name, files] : found) processes.push_back(std::move(files));
  return processes;
}

}  // namespace hearth::record
