// Numbers as people read them. Pure; the page's script has the same rules (page/words.js).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::report {

/// "4.52 ms": three digits, in the unit that suits.
std::string time_text(std::int64_t ns);
/// "38 %", below ten "3.8 %", a trace "< 0.1 %".
std::string share_text(double share);
/// "1,218,000"
std::string count_text(std::int64_t count);
/// "1 task", "1,218 tasks"
std::string counted(std::int64_t count, std::string_view one, std::string_view many = {});
/// "1.5 MiB"
std::string bytes_text(std::int64_t bytes);
/// "3.97"
std::string decimal(double value);
/// Names come from programs: no control character reaches the terminal.
std::string harmless(std::string_view text);

}  // namespace hearth::report
