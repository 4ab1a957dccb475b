// See recording.h: the reader. A file may come from anywhere: every number is checked before it is used.
#include <charconv>

#include "btlp/analysis/recording.h"

namespace hearth::btlp {
namespace {

constexpr int kMostThreads = 1 << 16;
constexpr int kMostObjects = 1 << 22;

class Reader {
 public:
  Reader(std::string_view text, Recording& recording) : text_(text), recording_(recording) {}

  bool read(std::string& problem) {
    bool ended = false;
    while (!text_.empty() && problem_.empty()) {
      next_line();
      if (ended) {
        wrong("there is more behind the line 'end'");
      } else if (number_ == 1) {
        head();
      } else if (fields_[0] == "end" && fields_.size() == 1) {
        ended = true;
      } else {
        line();
      }
    }
    if (problem_.empty() && !ended) {
      ++number_;
      wrong(number_ == 1 ? "the file is empty" : "the file is cut off: its last line is not 'end'");
    }
    problem = problem_.empty() ? "" : recording_.file + ":" + std::to_string(number_) + ": " + problem_;
    return problem_.empty();
  }

 private:
  void next_line() {
    ++number_;
    const std::size_t end = text_.find('\n');
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    fields_.clear();
    for (;;) {
      const std::size_t tab = line.find('\t');
      fields_.push_back(line.substr(0, tab));
      if (tab == std::string_view::npos) return;
      line.remove_prefix(tab + 1);
    }
  }

  void wrong(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }

  /// The name of a field stands in what is said of it.
  template <typename Number>
  Number value(std::size_t field, Number least, Number most, const char* name) {
    Number number = 0;
    const std::string_view text = fields_[field];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
      wrong(std::string(name) + " must be a number from " + std::to_string(least) + " to " + std::to_string(most));
      return least;
    }
    return number;
  }

  bool expect(std::size_t fields) {
    if (fields_.size() == fields) return true;
    wrong("a line '" + printable(fields_[0]) + "' has " + std::to_string(fields) + " fields, not " +
          std::to_string(fields_.size()));
    return false;
  }

  static std::string printable(std::string_view text) {
    std::string result;
    for (const char letter : text.substr(0, 40)) result += letter >= ' ' && letter < 127 ? letter : '?';
    return result;
  }

  void head() {
    if (fields_[0] != "hearth-threads") return wrong("not a recording of threads (hearth cc --record)");
    if (!expect(3)) return;
    if (fields_[1] != "1") return wrong("version " + printable(fields_[1]) + "; this hearth reads version 1");
    if (fields_[2] != "exact" && fields_[2] != "sampled") return wrong("neither 'sampled' nor 'exact'");
    recording_.exact = fields_[2] == "exact";
  }

  void line() {
    const std::string_view kind = fields_[0];
    if (kind == "program" && expect(2)) recording_.program = printable(fields_[1]);
    if (kind == "thread" && expect(6)) thread();
    if (kind == "object" && expect(4)) object();
    if (kind == "touch" && expect(5)) touch();
    if (kind == "meet" && expect(7)) meet();
    if (kind == "left-out" && expect(5)) left_out();
    for (const std::string_view known : {"program", "thread", "object", "touch", "meet", "left-out"})
      if (kind == known) return;
    wrong("no such kind of line: '" + printable(kind) + "'");
  }

  int thread_at(std::size_t field, const char* name) {
    return value<int>(field, 0, static_cast<int>(recording_.threads.size()) - 1, name);
  }
  int object_at(std::size_t field) {
    return value<int>(field, 0, static_cast<int>(recording_.objects.size()) - 1, "the object");
  }

  void thread() {
    Recording::Thread thread;
    // Creations that failed leave holes.
    thread.number = value<int>(1, static_cast<int>(recording_.threads.size()), kMostThreads, "the thread");
    thread.creator = value<int>(2, -1, thread.number - 1, "the creator");
    thread.instance = value<std::uint32_t>(3, 0, UINT32_MAX, "which of its site's threads it is");
    thread.site = fields_[4];
    thread.routine = fields_[5];
    if (!problem_.empty()) return;
    while (static_cast<int>(recording_.threads.size()) < thread.number) {
      recording_.threads.emplace_back();
      recording_.threads.back().number = -1;
    }
    recording_.threads.push_back(thread);
  }

  void object() {
    const int number = value<int>(1, static_cast<int>(recording_.objects.size()), kMostObjects, "the object");
    if (!problem_.empty()) return;
    recording_.objects.resize(static_cast<std::size_t>(number));
    recording_.objects.push_back({std::string(fields_[2]), std::string(fields_[3])});
  }

  void touch() {
    Recording::Touch touch;
    touch.thread = thread_at(1, "the thread");
    touch.object = object_at(2);
    touch.reads = value<std::uint64_t>(3, 0, UINT64_MAX, "the number of reads");
    touch.writes = value<std::uint64_t>(4, 0, UINT64_MAX, "the number of writes");
    recording_.touches.push_back(touch);
  }

  void meet() {
    Recording::Meeting meeting;
    meeting.b = thread_at(2, "thread b");
    meeting.a = value<int>(1, 0, meeting.b - 1, "thread a");
    meeting.object = object_at(3);
    const std::string_view how = fields_[4];
    if (how.size() != 3 || (how[0] != '>' && how[0] != '-') || (how[1] != '<' && how[1] != '-') ||
        (how[2] != 'w' && how[2] != '-'))
      wrong("how threads meet must be three letters: > or -, < or -, w or -");
    else {
      meeting.a_writes_b_reads = how[0] == '>';
      meeting.b_writes_a_reads = how[1] == '<';
      meeting.both_write = how[2] == 'w';
    }
    meeting.a_to_b = value<std::uint64_t>(5, 0, UINT64_MAX, "reads from a to b");
    meeting.b_to_a = value<std::uint64_t>(6, 0, UINT64_MAX, "reads from b to a");
    recording_.meetings.push_back(meeting);
  }

  void left_out() {
    recording_.accesses_left_out = value<std::uint64_t>(1, 0, UINT64_MAX, "accesses left out");
    recording_.threads_left_out = value<std::uint64_t>(2, 0, UINT64_MAX, "threads left out");
    recording_.histories_cut = value<std::uint64_t>(3, 0, UINT64_MAX, "histories cut");
    recording_.stopped = value<int>(4, 0, 1, "whether memory ran out") == 1;
  }

  std::string_view text_;
  Recording& recording_;
  std::vector<std::string_view> fields_;
  std::string problem_;
  std::size_t number_ = 0;
};

}  // namespace

bool parse_recording(std::string_view text, const std::string& file, Recording& recording, std::string& problem) {
  recording = {};
  recording.file = file;
  return Reader(text, recording).read(problem);
}

}  // namespace hearth::btlp
