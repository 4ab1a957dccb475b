#include "policy/learned.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace hearth::policy {
namespace {

constexpr std::string_view kName = "hearth-learned ", kHead = "hearth-learned 1";
constexpr std::string_view kConstruct = "construct", kSite = "site";
constexpr std::uint64_t kMostThreads = 1'000'000, kMostTasks = 1'000'000'000'000, kMostTime = 1'000'000'000'000, kMostPart = 1000, kMostSize = 63;

constexpr std::string_view kTriedNames[][3] = {{"standard=", "standard-ns=", "standard-local="},
                                               {"fine=", "fine-ns=", "fine-local="},
                                               {"coarse=", "coarse-ns=", "coarse-local="},
                                               {"blocked=", "blocked-ns=", "blocked-local="},
                                               {"nearest=", "nearest-ns=", "nearest-local="}};
static_assert(std::size(kTriedNames) == kSiteKindCount);

// Calls visit(name, value, most) in the order of the file, until one is false.
template <class Visit>
bool visit_fields(Experience& seen, Visit visit) {
  return visit("asked=", seen.asked, kMostTasks) && visit("saved=", seen.saved, kMostTime) && visit("home=", seen.home, kMostTasks) &&
         visit("home-ns=", seen.home_time, kMostTime) && visit("far=", seen.far, kMostTasks) &&
         visit("far-ns=", seen.far_time, kMostTime) && visit("foretold=", seen.foretold, kMostTime);
}
template <class Visit>
bool visit_fields(SiteUse& use, Visit visit) {
  bool good = visit("blocks=", use.blocks, kMostTasks) && visit("bytes=", use.bytes, UINT64_MAX) &&
              visit("placed=", use.placed, kMostTasks) && visit("spread=", use.spread, kMostPart) &&
              visit("uses=", use.uses, kMostTasks) && visit("part=", use.part, kMostPart) &&
              visit("main=", use.main, kMostPart) && visit("share=", use.share, kMostPart) &&
              visit("followed=", use.followed, kMostPart);
  for (std::size_t i = 0; i < kSiteKindCount && good; ++i) {
    SiteUse::Tried& tried = use.tried[i];
    good = visit(kTriedNames[i][0], tried.uses, kMostTasks) && visit(kTriedNames[i][1], tried.time, kMostTime) &&
           visit(kTriedNames[i][2], tried.local, kMostPart);
  }
  return good;
}
template <class Visit>
bool visit_fields(Learned& entry, Visit visit) {
  if (!entry.is_site) return visit_fields(entry.seen, visit);
  return visit("size=", entry.size, kMostSize) && visit_fields(entry.use, visit);
}

// One line, from the left. The first thing that is wrong counts.
class Line {
 public:
  Line(std::string_view text, std::size_t number, LearnedText& out) : text_(text), number_(number), out_(out) {}

  /// Up to the next blank, which is taken too.
  std::string_view word() {
    begin_ = next_;
    const std::size_t end = std::min(text_.find(' ', next_), text_.size());
    next_ = std::min(end + 1, text_.size());
    return text_.substr(begin_, end - begin_);
  }
  std::string_view rest() {
    begin_ = next_;
    next_ = text_.size();
    return text_.substr(begin_);
  }
  bool refuse(const char* wrong, const char* legal) {
    if (out_.ok()) {
      out_.wrong = wrong;
      out_.legal = legal;
      out_.line = number_;
      out_.column = begin_ + 1;
    }
    return false;
  }
  /// `name`, then digits of the base, and nothing else.
  bool number(std::string_view name, int base, std::uint64_t most, std::uint64_t& value) {
    const std::string_view all = word();
    if (all.substr(0, name.size()) != name) return refuse("another field", name.data());
    begin_ += name.size();
    const char* const end = all.data() + all.size();
    const auto parsed = std::from_chars(all.data() + name.size(), end, value, base);
    if (parsed.ec == std::errc::result_out_of_range || (parsed.ec == std::errc() && parsed.ptr == end && value > most))
      return refuse("a number that is too large", base == 16 ? "16 digits" : "10^12; threads 10^6, parts 1000, size 63");
    if (parsed.ec != std::errc() || parsed.ptr != end) return refuse("no number", base == 16 ? "hexadecimal digits" : "digits");
    return true;
  }

 private:
  std::string_view text_;
  std::size_t number_;
  LearnedText& out_;
  std::size_t begin_ = 0, next_ = 0;
};

bool read_entry(Line& line, Learned& entry) {
  const std::string_view kind = line.word();
  entry.is_site = kind == kSite;
  if (!entry.is_site && kind != kConstruct) return line.refuse("an unknown word", "construct or site");
  if (!line.number("", 16, UINT64_MAX, entry.machine) || !line.number("", 10, kMostThreads, entry.threads) ||
      !line.number("0x", 16, UINT64_MAX, entry.offset))
    return false;
  const auto read = [&line](std::string_view name, std::uint64_t& value, std::uint64_t most) {
    return line.number(name, 10, most, value);
  };
  if (!visit_fields(entry, read)) return false;
  entry.build = line.word();
  if (!is_build(entry.build)) return line.refuse("no build", "up to 64 letters, digits, '-' and '.'");
  entry.module = line.rest();
  if (!is_module(entry.module)) return line.refuse("no module", "an absolute path of up to 4095 bytes, without control characters");
  return true;
}

void append(std::string& line, std::string_view name, std::uint64_t value, int base = 10) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, base);
  line.append(name).append(digits, end.ptr).append(1, ' ');
}

void write_entry(Learned entry, std::string& line) {
  line.assign(entry.is_site ? kSite : kConstruct).append(1, ' ');
  append(line, "", entry.machine, 16);
  append(line, "", entry.threads);
  append(line, "0x", entry.offset, 16);
  visit_fields(entry, [&line](std::string_view name, std::uint64_t value, std::uint64_t most) {
    append(line, name, std::min(value, most));
    return true;
  });
  line.append(entry.build).append(1, ' ').append(entry.module).append(1, '\n');
}

}  // namespace

bool is_build(std::string_view text) {
  const auto legal = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kMostBuild && std::all_of(text.begin(), text.end(), legal);
}

bool is_module(std::string_view text) {
  const auto legal = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; };
  return !text.empty() && text.front() == '/' && text.size() <= kMostModule && std::all_of(text.begin(), text.end(), legal);
}

LearnedText read_learned(std::string_view text) {
  LearnedText out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    Line line(text.substr(0, end), number, out);
    Learned entry;
    if (end == std::string_view::npos) {
      line.refuse("a line that does not end", "whole lines");
    } else if (number == 1) {
      if (line.rest() != kHead) line.refuse("another first line", kHead.data());
    } else if (out.entries.size() == kMostLearned) {
      line.refuse("too many entries", "2000");
    } else if (read_entry(line, entry)) {
      out.entries.push_back(entry);
    }
    if (!out.ok()) {
      out.entries.clear();
      return out;
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

bool is_learned_file(std::string_view text) { return text.empty() || text.substr(0, kName.size()) == kName; }

std::string write_learned(const std::vector<Learned>& entries) {
  std::string lines, line;
  std::size_t bytes = kHead.size() + 1, first = entries.size();
  // From the newest back, as many as fit; then forward.
  while (first > 0 && entries.size() - first < kMostLearned) {
    write_entry(entries[first - 1], line);
    if (bytes + line.size() > kMostLearnedBytes) break;
    bytes += line.size();
    --first;
  }
  lines.reserve(bytes);
  lines.append(kHead).append(1, '\n');
  for (; first < entries.size(); ++first) {
    write_entry(entries[first], line);
    lines += line;
  }
  return lines;
}

const Learned* find_learned(const std::vector<Learned>& entries, const Learned& place) {
  for (const Learned& entry : entries)
    if (entry.same_place(place)) return &entry;
  return nullptr;
}

void add_learned(std::vector<Learned>& entries, const Learned& newer) {
  Learned all = newer;
  if (const Learned* older = find_learned(entries, newer)) {
    all.seen = joined(older->seen, newer.seen);
    all.use = joined(older->use, newer.use);
  }
  std::erase_if(entries, [&](const Learned& entry) {
    return entry.same_place(newer) || (entry.same_program(newer) && entry.build != newer.build);
  });
  entries.push_back(all);
}

}  // namespace hearth::policy
