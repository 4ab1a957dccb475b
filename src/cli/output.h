// What the command says and writes: messages on standard error, text on standard output, result files.
//
// Nothing here throws: a closed or full stream must not end a run that has succeeded. Whether standard output took
// everything is asked once, at the end (close_output()). One thread at a time.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace hearth::cli {

/// Descriptors 0 to 2 that are closed become /dev/null for this process only: a file that is opened later must not
/// get the number of standard error and with it our messages. Programs that we start find them closed, as given.
void guard_standard_streams();
/// The exit status, or kExitFailed if standard output did not take everything; that is said.
int close_output(int status);

void put_text(std::FILE* to, std::string_view text);
void say_formatted(fmt::string_view format, fmt::format_args arguments);

/// "hearth: ...", one line on standard error.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say_formatted(format, fmt::make_format_args(args...));
}

template <typename... Args>
void put(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  put_text(to, fmt::vformat(format, fmt::make_format_args(args...)));
}

/// "1 task", "2 tasks".
std::string counted(std::size_t count, std::string_view what, std::string_view plural = {});

/// Writes a whole file; "-" is standard output. False, and said, when it cannot be written.
bool write_file(const std::string& path, std::string_view text);

/// Would writing to `output` write over `input`? By device and inode, so links do not deceive it. Said when so.
bool would_destroy(const std::string& output, const std::string& input);

}  // namespace hearth::cli
