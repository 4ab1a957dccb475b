// See decision_text.h.
#include "policy/decision_text.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace hearth::policy {
namespace {

constexpr std::size_t kLongestText = 512;  // of what users have named

// One JSON object in a buffer that is large enough for it.
class Line {
 public:
  Line(char* out, std::size_t room) : begin_(out), at_(out), end_(out + room) { put('{'); }

  std::size_t finish() {
    put('}');
    put('\n');
    return static_cast<std::size_t>(at_ - begin_);
  }

  void text(const char* key, const char* value) {
    begin_field(key);
    put('"');
    std::size_t left = kLongestText;
    for (; *value != '\0' && left != 0; ++value, --left) {
      const auto byte = static_cast<unsigned char>(*value);
      // Paths may hold any bytes; Latin-1 escapes keep the line ASCII and valid whatever they are.
      if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\')
        print("\\u%04x", byte);
      else
        put(*value);
    }
    put('"');
  }
  void flag(const char* key, bool value) {
    begin_field(key);
    print("%s", value ? "true" : "false");
  }
  void number(const char* key, std::uint64_t value) {
    begin_field(key);
    print("%llu", static_cast<unsigned long long>(value));
  }
  /// No location is null.
  void location(const char* key, Location value) {
    begin_field(key);
    if (value < 0)
      print("null");
    else
      print("%d", static_cast<int>(value));
  }
  template <class Value>
  void list(const char* key, const Value* values, std::int32_t count) {
    begin_field(key);
    list(values, count);
  }
  void locations(const char* key, std::uint64_t bits) {
    begin_field(key);
    char between = '[';
    for (int i = 0; i < 64; ++i) {
      if ((bits >> i & 1) == 0) continue;
      print("%c%d", between, i);
      between = ',';
    }
    if (bits == 0) put('[');
    put(']');
  }
  template <class Value>
  void matrix(const char* key, const Value* values, std::int32_t side) {
    begin_field(key);
    for (std::int32_t row = 0; row < side; ++row) {
      put(row == 0 ? '[' : ',');
      list(values + row * side, side);
    }
    put(']');
  }

 private:
  void put(char c) {
    if (at_ < end_) *at_++ = c;
  }
  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const auto room = static_cast<std::size_t>(end_ - at_);
    const int length = std::vsnprintf(at_, room, format, arguments);
    va_end(arguments);
    if (length > 0) at_ += static_cast<std::size_t>(length) < room ? static_cast<std::size_t>(length) : room;
  }
  void begin_field(const char* key) { print("%s\"%s\":", at_ == begin_ + 1 ? "" : ",", key); }
  template <class Value>
  void list(const Value* values, std::int32_t count) {
    put('[');
    for (std::int32_t i = 0; i < count; ++i)
      print("%s%llu", i == 0 ? "" : ",", static_cast<unsigned long long>(values[i]));
    put(']');
  }

  char* begin_;
  char* at_;
  char* end_;
};

// What only policies that weigh load are shown.
void add_load(Line& line, const LoadView& load, std::int32_t locations) {
  line.list("wait", load.wait, locations);
  line.list("guest_wait", load.guest_wait, locations);
  line.number("task_time", load.task_time);
  line.number("create_time", load.create_time);
  line.number("workers", load.workers);
  line.number("dealers", load.dealers);
  line.flag("believes", load.believes);
  line.flag("tries", load.tries);
  if (load.stake != nullptr) line.number("stake", *load.stake);
}

// Four lists of numbers by location and one of locations, the texts with every byte escaped, and the names.
static_assert(placement::kMaxLocations * (4 * 21 + 3) + kLongestText * 6 + 1024 <= kDecisionRoom);
static_assert(placement::kMaxLocations * placement::kMaxLocations * 11 + 3 * kLongestText * 6 + 1024 <=
              kDecisionHeadRoom);

}  // namespace

void TaskPath::prepend(std::uint32_t number) {
  constexpr std::size_t kDots = 3;
  if (*begin_ == '.') return;  // it is cut
  if (begin_ < text_ + kDots + 1 + kLongestNumber) {
    begin_ -= kDots;
    std::memset(begin_, '.', kDots);
    return;
  }
  if (*begin_ != '\0') *--begin_ = '.';
  do {
    *--begin_ = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
}

std::size_t decision_head(const DecisionHead& head, char (&out)[kDecisionHeadRoom]) {
  Line line(out, sizeof(out));
  line.text("log", "decisions");
  line.number("version", 1);
  line.text("program", head.program);
  line.text("machine", head.machine);
  line.text("policy", head.policy);
  line.text("significance", head.view.significance == Significance::paper ? "paper" : "gain");
  line.matrix("distance", head.view.distance, head.view.locations);
  return line.finish();
}

std::size_t decision_line(const Decision& decision, char (&out)[kDecisionRoom]) {
  const Need& need = decision.need;
  Line line(out, sizeof(out));
  line.text("task", decision.task);
  line.text("construct", decision.construct);
  line.flag("released", decision.released);
  line.location("creator", decision.creator);
  line.list("read", need.read.at, need.read.locations);
  line.list("written", need.written.at, need.written.locations);
  line.number("unknown", need.read.unknown + need.written.unknown);
  line.flag("stated", decision.stated);
  line.flag("decided", need.decided);
  line.locations("staffed", decision.load.staffed);
  line.number("turn", decision.load.turn);
  if (decision.load.wait != nullptr) add_load(line, decision.load, need.read.locations);
  line.location("chosen", decision.chosen);
  return line.finish();
}

std::size_t DecisionBudget::end_line(char (&out)[kDecisionRoom]) const {
  Line line(out, sizeof(out));
  line.number("decisions", written_);
  line.number("left_out", left_out_);
  return line.finish();
}

}  // namespace hearth::policy
