// The reader of spill files: what is whole is delivered, what is not is named.
#include <gtest/gtest.h>

#include <sstream>

#include "record/reader.h"

namespace hearth::record {
namespace {

/// A spill file made in memory; times go up by 10.
class Spill {
 public:
  void open_block() {
    words_.resize(blocks_ * kBlock / sizeof(std::uint64_t));
    head_ = BlockHead{};
    head_.magic = kBlockMagic;
    head_.number = blocks_++;
    head_.ticks = now_;
    head_.nanoseconds = now_ * 2;
    begin_ = words_.size() + sizeof(BlockHead) / sizeof(std::uint64_t);
    words_.resize(begin_);
    std::memcpy(words_.data() + begin_ - sizeof(BlockHead) / sizeof(std::uint64_t), &head_, sizeof head_);
  }
  void put(Kind kind, std::vector<std::uint64_t> data = {}) {
    now_ += 10;
    data.insert(data.begin(), first_word(kind, data.size() + 1, now_));
    data.resize(words_of(data[0]));
    words_.insert(words_.end(), data.begin(), data.end());
  }
  void seal() {
    const std::size_t count = words_.size() - begin_;
    head_.used = count * sizeof(std::uint64_t);
    head_.checksum = checksum_of(head_, words_.data() + begin_, count);
    std::memcpy(words_.data() + begin_ - sizeof(BlockHead) / sizeof(std::uint64_t), &head_, sizeof head_);
  }
  void pass(std::uint64_t ticks) { now_ += ticks; }
  std::string bytes() const {
    std::string all(blocks_ * kBlock, '\0');
    std::memcpy(all.data(), words_.data(), words_.size() * sizeof(std::uint64_t));
    return all;
  }

 private:
  std::vector<std::uint64_t> words_;
  BlockHead head_;
  std::uint64_t blocks_ = 0, now_ = 5000;
  std::size_t begin_ = 0;
};

struct Read {
  SpillSummary summary;
  std::vector<std::pair<Kind, std::uint64_t>> records;  // and their times
  std::vector<Problem> problems;
};

Read read(const std::string& bytes) {
  Read all;
  std::istringstream in(bytes);
  all.summary = read_spill(
      in, "file", [&](const Record& record) { all.records.emplace_back(record.kind, record.ticks); },
      all.problems);
  return all;
}

Spill two_blocks() {
  Spill spill;
  spill.open_block();
  spill.put(Kind::thread_begin, {1, 2});
  spill.put(Kind::task_create, {1, 2, 3});
  spill.put(Kind::dependences, {2, 100, 1, 200, 3});
  spill.seal();
  spill.open_block();
  spill.put(Kind::task_created);
  spill.put(Kind::thread_end);
  spill.seal();
  return spill;
}

TEST(RecordReader, WholeFileIsReadInOrder) {
  const Read all = read(two_blocks().bytes());
  EXPECT_TRUE(all.problems.empty());
  ASSERT_EQ(all.records.size(), 5u);
  EXPECT_EQ(all.records[0], std::make_pair(Kind::thread_begin, std::uint64_t{5010}));
  EXPECT_EQ(all.records[4], std::make_pair(Kind::thread_end, std::uint64_t{5050}));
  EXPECT_TRUE(all.summary.ended);
  EXPECT_FALSE(all.summary.cut);
  ASSERT_EQ(all.summary.clock.size(), 2u);
  EXPECT_EQ(all.summary.clock[1].nanoseconds, 2 * all.summary.clock[1].ticks);
}

TEST(RecordReader, OfAFileThatWasCutAnywhereWhatIsWholeIsRead) {
  const std::string bytes = two_blocks().bytes();
  std::size_t before = 0;
  for (std::size_t cut = 0; cut < bytes.size(); cut += cut % kBlock < 300 ? 1 : 97) {
    const Read some = read(bytes.substr(0, cut));
    EXPECT_GE(some.records.size(), before) << cut;
    EXPECT_LE(some.records.size(), 5u);
    before = some.records.size();
    // Whoever knows how many blocks there were misses the others; within one, the reader itself says so.
    if (cut % kBlock >= sizeof(std::uint64_t)) {
      EXPECT_TRUE(some.summary.cut) << cut;
      EXPECT_FALSE(some.problems.empty()) << cut;
    }
  }
}

TEST(RecordReader, AChangedByteOfASealedBlockCostsThatBlockOnly) {
  const std::string bytes = two_blocks().bytes();
  for (std::size_t at = 0; at < 160; ++at) {
    if (at >= 56 && at < 64) continue;  // not part of anything
    std::string damaged = bytes;
    damaged[at] ^= 0x40;
    const Read some = read(damaged);
    EXPECT_EQ(some.records.size(), 2u) << at;
    EXPECT_EQ(some.problems.size(), 1u) << at;
  }
}

TEST(RecordReader, ABlockThatWasNotSealedEndsWithItsLastWholeRecord) {
  Spill spill;
  spill.open_block();
  spill.put(Kind::thread_begin, {1, 2});
  spill.put(Kind::task_create, {1, 2, 3});
  const Read all = read(spill.bytes());
  EXPECT_EQ(all.records.size(), 2u);
  EXPECT_TRUE(all.problems.empty());
  EXPECT_FALSE(all.summary.ended);
}

TEST(RecordReader, RecordsOfWrongLengthAreNone) {
  for (const std::size_t words : {1, 2, 4, 6}) {  // a create has 4
    Spill spill;
    spill.open_block();
    spill.put(Kind::task_create, std::vector<std::uint64_t>(words - 1, 1));
    EXPECT_EQ(read(spill.bytes()).records.size(), words == 4 ? 1u : 0u);
    EXPECT_EQ(read(spill.bytes()).problems.empty(), words == 4);
  }
}

using Words = std::vector<std::uint64_t>;

/// The records as their readers see them, kind first.
std::vector<Words> long_forms(const std::string& bytes, std::vector<Problem>& problems) {
  std::vector<Words> all;
  std::istringstream in(bytes);
  read_spill(
      in, "file",
      [&](const Record& record) {
        const auto kind = static_cast<std::size_t>(record.kind);
        const std::size_t count = kWords[kind] - 1u + record.items * item_words(record.kind);
        all.emplace_back(record.words, record.words + count).insert(all.back().begin(), kind);
      },
      problems);
  return all;
}

constexpr std::uint64_t number(Kind kind) { return static_cast<std::uint64_t>(kind); }

TEST(RecordReader, ShortFormsAreMadeLong) {
  const std::uint64_t outer = first_id(0) + 1, task = first_id(0) + 7, code = code_with(0x401000, 5);
  const unsigned cpu = 300, status_switch = 7, status_complete = 1;
  Spill spill;
  spill.open_block();
  spill.put(Kind::task_create, {outer, task, code});
  spill.put(Kind::create_turned);
  spill.put(Kind::create_again);
  spill.put(Kind::dependences_of_last, {data_with(0x7fff12345678, 3), data_with(0x10, 34)});
  spill.put(Kind::footprint_of_last, {data_with(0x7fff12345678, kRangeRead | kRangeStated), 4096});
  spill.put(Kind::task_switch, {with_note(5, switch_low(status_complete, cpu)), with_note(outer, switch_high(cpu))});
  spill.put(Kind::switch_on, {with_note(task, status_switch)});
  spill.put(Kind::switch_back);
  spill.put(Kind::switch_on, {with_note(task + 1, status_switch)});
  spill.seal();
  std::vector<Problem> problems;
  const auto low = [&](std::uint64_t id, unsigned status) { return with_note(id, switch_low(status, cpu)); };
  const auto high = [&](std::uint64_t id) { return with_note(id, switch_high(cpu)); };
  const std::vector<Words> expected = {
      {number(Kind::task_create), outer, task, code},
      {number(Kind::task_create), outer, task + 1, code ^ kUndeferredInCode},
      {number(Kind::task_create), outer, task + 2, code ^ kUndeferredInCode},
      {number(Kind::dependences), task + 2, 0x7fff12345678, 3, 0x10, 34},
      {number(Kind::footprint), task + 2, 0x7fff12345678, 4096, 1, 0, kRangeRead | kRangeStated},
      {number(Kind::task_switch), low(5, status_complete), high(outer)},
      {number(Kind::task_switch), low(outer, status_switch), high(task)},
      {number(Kind::task_switch), low(task, status_complete), high(outer)},
      {number(Kind::task_switch), low(outer, status_switch), high(task + 1)}};
  EXPECT_EQ(long_forms(spill.bytes(), problems), expected);
  EXPECT_TRUE(problems.empty());
}

TEST(RecordReader, ShortFormsThatGoOnWithNothingAreDamage) {
  const std::pair<Kind, Words> kShort[] = {{Kind::create_again, {}},
                                           {Kind::create_turned, {}},
                                           {Kind::switch_on, {9}},
                                           {Kind::switch_back, {}},
                                           {Kind::dependences_of_last, {1}},
                                           {Kind::footprint_of_last, {1, 2}}};
  for (const auto& [kind, words] : kShort) {
    Spill spill;  // what another block has said does not count
    spill.open_block();
    spill.put(Kind::task_create, {1, 2, 3});
    spill.put(Kind::task_switch, {1, 2});
    spill.put(kind, words);
    spill.seal();
    EXPECT_TRUE(read(spill.bytes()).problems.empty()) << number(kind);
    spill.open_block();
    spill.put(kind, words);
    spill.seal();
    const Read some = read(spill.bytes());
    EXPECT_EQ(some.records.size(), 3u) << number(kind);
    EXPECT_EQ(some.summary.damaged_blocks, 1u) << number(kind);
  }
}

TEST(RecordReader, TimesGoOnWhereTheirBitsEnd) {
  Spill spill;
  spill.open_block();
  spill.put(Kind::task_created);
  spill.pass((std::uint64_t{1} << 48) - (std::uint64_t{1} << 41));
  spill.put(Kind::task_created);
  spill.pass((std::uint64_t{1} << 48) - (std::uint64_t{1} << 41));
  spill.put(Kind::task_created);
  const Read all = read(spill.bytes());
  ASSERT_EQ(all.records.size(), 3u);
  EXPECT_EQ(all.records[2].second, 5030 + 2 * ((std::uint64_t{1} << 48) - (std::uint64_t{1} << 41)));
  // A time that was taken just before the block was opened is no day later.
  EXPECT_EQ(ticks_of(first_word(Kind::task_created, 1, 4990), 5000), 4990u);
}

TEST(RecordReader, ProcessTextThatCannotBeReadIsNamedByLine) {
  std::vector<Problem> problems;
  std::istringstream in("hearth-recording 1\nprocess 12 1\nclock 1 2\nnode 0 0-3\nthread 0 1\nmodule 1 2");
  const ProcessText text = read_process(in, "12.process", problems);
  EXPECT_EQ(text.pid, 12);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].where, "12.process, line 3");
  EXPECT_EQ(problems[1].where, "12.process, line 6");
  std::istringstream other("something else\n");
  problems.clear();
  read_process(other, "x", problems);
  EXPECT_EQ(problems.size(), 1u);
}

}  // namespace
}  // namespace hearth::record
