// The text of a thread's affinity: OMP_AFFINITY_FORMAT and the routines around it (OpenMP 5.2,
// section 21.2.6).
//
// Any thread formats its own line into memory of its own. The format itself is one device-wide text.
#include <cstdio>
#include <cstring>

#include <string_view>

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/binding/places.h"
#include "topology/allowance.h"

namespace hearth::rt {
namespace {

constexpr std::size_t kLongest = 1024;

char format_var[kLongest];
bool format_was_set = false;

// Counts what it is given, and keeps what fits.
class Sink {
 public:
  Sink(char* out, std::size_t room) : out_(out), room_(room) {}
  ~Sink() {
    if (room_ > 0) out_[length_ < room_ ? length_ : room_ - 1] = '\0';
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  void add(char c) {
    if (length_ + 1 < room_) out_[length_] = c;
    ++length_;
  }
  void add(std::string_view text) {
    for (const char c : text) add(c);
  }
  void fill(char c, std::size_t count) {
    while (count-- > 0) add(c);
  }
  std::size_t length() const { return length_; }

 private:
  char* out_;
  std::size_t room_;
  std::size_t length_ = 0;
};

struct Field {
  char short_name;
  std::string_view long_name;
};

constexpr Field kFields[] = {
    {'t', "team_num"},    {'T', "num_teams"},     {'L', "nesting_level"},   {'n', "thread_num"},
    {'N', "num_threads"}, {'a', "ancestor_tnum"}, {'A', "thread_affinity"}, {'i', "native_thread_id"},
    {'P', "process_id"},  {'H', "host"}};

std::string_view number(char (&out)[kLongest], long value) {
  return {out, static_cast<std::size_t>(std::snprintf(out, sizeof(out), "%ld", value))};
}

std::string_view value_of(Thread* self, char field, char (&out)[kLongest]) {
  const Team& team = *self->team;
  switch (field) {
    case 't': return number(out, team.team_num);
    case 'T': return number(out, team.num_teams);
    case 'L': return number(out, team.level);
    case 'n': return number(out, self->tid);
    case 'N': return number(out, team.size);
    case 'a': return number(out, team.parent_member == nullptr ? -1 : team.parent_member->tid);
    case 'i': return number(out, static_cast<long>(syscall(SYS_gettid)));
    case 'P': return number(out, getpid());
    case 'H': {
      utsname system;
      if (uname(&system) != 0) return "undefined";
      return {out, static_cast<std::size_t>(std::snprintf(out, sizeof(out), "%s", system.nodename))};
    }
    case 'A': {
      const topology::CpuMask mask = topology::current_affinity();
      if (mask.empty()) return "undefined";
      const int length = std::snprintf(out, sizeof(out), "%s", mask.list().c_str());
      return {out, static_cast<std::size_t>(length) < sizeof(out) ? static_cast<std::size_t>(length)
                                                                  : sizeof(out) - 1};
    }
    default: return "undefined";
  }
}

// %[[[0].]size]type: a dot justifies to the right, a zero before it fills with zeros. Returns where the
// specifier ends.
const char* add_field(Thread* self, const char* at, Sink& sink) {
  bool zero = false, right = false;
  if (*at == '0') zero = true, ++at;
  if (*at == '.') right = true, ++at;
  std::size_t width = 0;
  while (*at >= '0' && *at <= '9') {
    if (width < kLongest) width = width * 10 + static_cast<std::size_t>(*at - '0');
    ++at;
  }
  if (width > kLongest) width = kLongest;
  char type = *at;
  if (type == '\0') return at;
  if (type == '{') {
    const char* end = std::strchr(at, '}');
    const std::string_view name(
        at + 1, end != nullptr ? static_cast<std::size_t>(end - at - 1) : std::strlen(at + 1));
    type = '\0';
    for (const Field& field : kFields)
      if (field.long_name == name) type = field.short_name;
    at = end != nullptr ? end + 1 : at + 1 + name.size();
  } else {
    ++at;
  }
  char buffer[kLongest];
  const std::string_view value = value_of(self, type, buffer);
  const std::size_t padding = width > value.size() ? width - value.size() : 0;
  if (!right) {
    sink.add(value);
    sink.fill(' ', padding);
  } else if (zero && !value.empty() && value[0] == '-') {
    sink.add('-');
    sink.fill('0', padding);
    sink.add(value.substr(1));
  } else {
    sink.fill(zero ? '0' : ' ', padding);
    sink.add(value);
  }
  return at;
}

}  // namespace

void set_affinity_format(const char* text) {
  std::snprintf(format_var, sizeof(format_var), "%s", text);
  format_was_set = true;
}

const char* affinity_format() {
  if (!format_was_set) {
    const std::string_view given = settings().affinity_format;
    std::snprintf(format_var, sizeof(format_var), "%.*s", static_cast<int>(given.size()), given.data());
    format_was_set = true;
  }
  return format_var;
}

std::size_t format_affinity(Thread* self, const char* format, char* out, std::size_t room) {
  if (format == nullptr || *format == '\0') format = affinity_format();
  Sink sink(out, room);
  while (*format != '\0') {
    if (*format != '%') {
      sink.add(*format++);
    } else if (format[1] == '%') {
      sink.add('%');
      format += 2;
    } else {
      format = add_field(self, format + 1, sink);
    }
  }
  return sink.length();
}

void display_affinity(Thread* self, const char* format) {
  char line[4 * kLongest];
  std::size_t length = format_affinity(self, format, line, sizeof(line) - 1);
  if (length > sizeof(line) - 2) length = sizeof(line) - 2;
  line[length++] = '\n';
  // Through stdio, so that the line keeps its place among what the program prints.
  std::fwrite(line, 1, length, stdout);
}

}  // namespace hearth::rt
