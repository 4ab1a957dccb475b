// What can be told of a program before it is started: what it is, and whether the loader could be made to
// give it Hearth. Reads files only.
#pragma once

#include <string>
#include <vector>

namespace hearth::cli {

struct Program {
  enum class Problem {
    none,
    not_found,
    not_executable,  // found, but no permission, or a directory
    static_linked,   // no dynamic loader takes part
    other_libc,      // a loader that is not glibc's (musl)
    other_machine,   // 32-bit, or another processor
    privileged,      // setuid, setgid or with file capabilities: the loader ignores LD_AUDIT and LD_PRELOAD
  };

  std::string asked;  // as given on the command line
  std::string path;   // the file that is executed; for a script its interpreter
  Problem problem = Problem::none;
  std::string own_runtime;  // an OpenMP entry point that the file itself defines ("GOMP_parallel"), if any

  // An allocator that the file itself defines beside malloc ("je_malloc"), if any.
  std::string own_allocator;

  // What a sanitizer with a malloc of its own is entered by ("__asan_init"), if the program is built with one.
  std::string sanitizer;

  bool can_start() const { return problem != Problem::not_found && problem != Problem::not_executable; }
};

/// Look at the program that execvp(name) would start; a script's interpreter is followed, "env NAME" too.
Program inspect_program(const std::string& name);

/// Why Hearth cannot serve the program, and what can be done: one or two sentences. Empty when nothing is
/// wrong.
std::string explain(const Program& program);

}  // namespace hearth::cli
