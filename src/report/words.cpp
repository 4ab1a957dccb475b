// See words.h.
#include "report/words.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace hearth::report {
namespace {

/// Three digits, without an exponent.
std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace

std::string time_text(std::int64_t ns) {
  constexpr const char* kUnits[] = {"ns", "µs", "ms", "s"};
  auto value = static_cast<double>(ns);
  std::size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && std::abs(value) >= 999.5; ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} ns", ns) : fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string share_text(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return percent == 0 ? "0 %" : fmt::format("{:.{}f} %", percent, percent < 9.95 ? 1 : 0);
}

std::string count_text(std::int64_t count) {
  const std::string digits = fmt::format("{}", count);
  const std::size_t sign = count < 0 ? 1 : 0;
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > sign && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count_text(count), one) : fmt::format("{} {}", count_text(count), many);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && value >= 1000; ++unit) value /= 1024;
  return unit == 0 ? counted(bytes, "byte") : fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string decimal(double value) { return three_digits(value); }

std::string harmless(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == 0x7F)
      out += '?';
    else
      out += letter;
  }
  return out;
}

}  // namespace hearth::report
