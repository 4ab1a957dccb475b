// See compile.h. Every argument that is not ours goes to clang as it is; what we add stands where it cannot be
// complained of.
// The plugin and the link step get their settings in the environment (src/btlp/pass/plugin.cpp,
// src/btlp/link/main.cpp).
#include "cli/compile.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "btlp/analysis/gaps.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/output.h"

namespace hearth::cli {
namespace {

struct Parts {
  std::string plugin, linker, library, recorder;
};

/// What the arguments say, as far as it concerns us.
struct Wanted {
  std::vector<std::string> passed;
  std::string mode, placing, explain, linker, remarks, record, profile;
  btlp::Gaps gaps;
  bool links = true, has_lines = false, thin = false, asks = false;
  bool good = true;
};

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::string_view after(std::string_view text, std::string_view with) { return text.substr(with.size()); }

/// -g, -g1, -ggdb, -gdwarf-5 …; not -g0, -gz, or switches such as -gno-column-info.
bool asks_for_lines(std::string_view argument) {
  if (!starts(argument, "-g")) return false;
  return !starts(argument, "-g0") && !starts(argument, "-gz") && !starts(argument, "-gno") &&
         !starts(argument, "-gcc-");
}

bool ends_before_linking(std::string_view argument) {
  for (const std::string_view word : {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "-emit-ast"})
    if (argument == word) return true;
  return false;
}

/// Questions to the compiler, which nothing is to be added to.
bool is_question(std::string_view argument) {
  return argument == "--version" || argument == "-v" || argument == "-###" || starts(argument, "-print-") ||
         starts(argument, "--print-") || starts(argument, "-dump");
}

/// An option of hearth cc, which clang does not get; false: it is none.
bool read_own(std::string_view argument, Wanted& wanted) {
  if (starts(argument, "--mode=")) {
    wanted.mode = after(argument, "--mode=");
    bool known = false;
    for (const std::string_view mode : btlp::kModeNames) known = known || mode == wanted.mode;
    if (!known) {
      say("--mode={}: no such mode; legal: literal, paper, balanced", wanted.mode);
      wanted.good = false;
    }
    return true;
  }
  if (starts(argument, "--gap=")) {
    std::string problem;
    if (!wanted.gaps.add(after(argument, "--gap="), problem)) {
      say("--gap={}", problem);
      wanted.good = false;
    }
    return true;
  }
  if (starts(argument, "--insert=")) {
    wanted.placing = after(argument, "--insert=");
    if (wanted.placing != "before" && wanted.placing != "after") {
      say("--insert={}: no such place; legal: before (a thread's routine), after (its creation)", wanted.placing);
      wanted.good = false;
    }
    return true;
  }
  if (starts(argument, "--explain=")) {
    wanted.explain = after(argument, "--explain=");
    if (wanted.explain.empty()) {
      say("--explain= needs the name of a file; its end says the form: .txt, .dot, .svg, else JSON");
      wanted.good = false;
    }
    return true;
  }
  if (argument == "--record" || starts(argument, "--record=")) {
    wanted.record = argument == "--record" ? "sampled" : after(argument, "--record=");
    if (wanted.record != "sampled" && wanted.record != "exact") {
      say("{}: no such kind of recording; legal: --record, --record=sampled, --record=exact", argument);
      wanted.good = false;
    }
    return true;
  }
  if (starts(argument, "--profile=")) {
    wanted.profile = after(argument, "--profile=");
    if (wanted.profile.empty()) {
      say("--profile= needs the file that a program built with --record has written");
      wanted.good = false;
    }
    return true;
  }
  return false;
}

Wanted read_arguments(int argc, char** argv, int first) {
  Wanted wanted;
  bool value_follows = false;
  for (int n = first; n < argc; ++n) {
    const std::string_view argument = argv[n];
    const bool is_value = std::exchange(
        value_follows, argument == "-o" || argument == "-I" || argument == "-D" || argument == "-include" ||
                           argument == "-MF" || argument == "-MT" || argument == "-MQ" || argument == "-Xlinker");
    if (is_value) {
      wanted.passed.emplace_back(argument);
      continue;
    }
    if (read_own(argument, wanted)) continue;
    if (starts(argument, "-fuse-ld=") || starts(argument, "--ld-path=")) {
      wanted.linker = argument;
      continue;
    }
    if (starts(argument, "-Rpass=")) wanted.remarks = after(argument, "-Rpass=");
    if (argument == "-flto=thin") wanted.thin = true;
    wanted.links = wanted.links && !ends_before_linking(argument);
    wanted.has_lines = argument == "-g0" ? false : wanted.has_lines || asks_for_lines(argument);
    wanted.asks = wanted.asks || is_question(argument);
    wanted.passed.emplace_back(argument);
  }
  return wanted;
}

/// Beside libhearth.so; empty paths where they are not.
Parts find_parts() {
  Parts parts;
  const std::string library = find_installation().library;
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  const auto there = [&](const char* name) {
    const std::string path = folder + name;
    return access(path.c_str(), R_OK) == 0 ? path : std::string();
  };
  parts.plugin = there("hearth-btlp.so");
  parts.linker = there("hearth-ld");
  parts.library = there("libhearth-threads.so");
  parts.recorder = there("libhearth-recorder.so");
  return parts;
}

std::string compiler_name(Compiler compiler) {
  const char* own = std::getenv(compiler == Compiler::cxx ? "HEARTH_CXX" : "HEARTH_CC");
  if (own != nullptr && *own != '\0') return own;
  return compiler == Compiler::cxx ? "clang++-19" : "clang-19";
}

/// The path behind -fuse-ld=NAME or --ld-path=PATH.
std::string linker_behind(const std::string& option, const std::string& compiler) {
  if (option.empty()) return "ld";
  if (starts(option, "--ld-path=")) return std::string(after(option, "--ld-path="));
  const std::string name(after(option, "-fuse-ld="));
  if (name.find('/') != std::string::npos) return name;
  std::string path;
  if (std::FILE* answer = popen((compiler + " -print-prog-name=ld." + name).c_str(), "r")) {
    char line[4096];
    if (std::fgets(line, sizeof(line), answer) != nullptr) path = line;
    pclose(answer);
  }
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return path.empty() ? "ld." + name : path;
}

void set(const char* name, const std::string& value) {
  if (value.empty())
    unsetenv(name);
  else
    setenv(name, value.c_str(), 1);
}

int become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  say("{}: {}. hearth cc needs clang 19 (Debian: clang-19); HEARTH_CC and HEARTH_CXX name another one.", command[0],
      std::strerror(errno));
  return kExitNotFound;
}

}  // namespace

std::string gaps_in_words() {
  std::string text = "Gaps of the algorithm (l, p, b: the answer of the modes literal, paper and balanced):\n";
  for (std::size_t n = 0; n < btlp::kGaps; ++n) {
    const auto gap = static_cast<btlp::Gap>(n);
    const btlp::GapText& about = btlp::text_of(gap);
    text += fmt::format("  {}=", about.name);
    for (int which = 0; which < 2; ++which) {
      std::string modes;
      for (const btlp::Mode mode : {btlp::Mode::literal, btlp::Mode::paper, btlp::Mode::balanced})
        if (btlp::Gaps().decided(gap, mode) == (which == 1))
          modes += (modes.empty() ? "" : ", ") + std::string(1, btlp::kModeNames[static_cast<int>(mode)][0]);
      text += fmt::format("{}{}{}", which == 0 ? "" : " | ", about.answers[which],
                          modes.empty() ? "" : " (" + modes + ")");
    }
    text += fmt::format("\n      {}\n", about.meaning);
  }
  return text + "\n";
}

Compiler compiler_asked_for(int argc, char** argv) {
  std::string_view name = argc > 0 ? argv[0] : "";
  name = name.substr(name.rfind('/') + 1);
  if (name == "hearth-cc") return Compiler::c;
  if (name == "hearth-c++") return Compiler::cxx;
  if (argc < 2) return Compiler::none;
  const std::string_view word = argv[1];
  if (argc == 2 || (argc == 3 && std::strcmp(argv[2], "--help") == 0))
    return Compiler::none;  // arguments.cpp has the help
  return word == "cc" ? Compiler::c : word == "c++" ? Compiler::cxx : Compiler::none;
}

int compile_main(int argc, char** argv, Compiler compiler) {
  const std::string_view name = argv[0];
  const bool by_name = starts(name.substr(name.rfind('/') + 1), "hearth-c");
  const int first = by_name ? 1 : 2;
  const Wanted wanted = read_arguments(argc, argv, first);
  if (!wanted.good) return kExitUsage;
  const Parts parts = find_parts();
  if (parts.plugin.empty() || parts.linker.empty() || parts.library.empty() || parts.recorder.empty()) {
    say("this installation has no hearth cc: it was built without LLVM 19 (run tools/setup btlp, then configure with "
        "-DHEARTH_BTLP=ON)");
    return kExitNotExecutable;
  }
  const std::string program = compiler_name(compiler);
  std::vector<std::string> command{program};
  if (!wanted.asks) {
    command.insert(command.end(),
                   {"--start-no-unused-arguments", "-fpass-plugin=" + parts.plugin, "-fno-discard-value-names"});
    if (!wanted.has_lines) command.emplace_back("-gline-tables-only");
    if (wanted.links) command.emplace_back("--ld-path=" + parts.linker);
    command.emplace_back("--end-no-unused-arguments");
  } else if (!wanted.linker.empty()) {
    command.push_back(wanted.linker);
  }
  command.insert(command.end(), wanted.passed.begin(), wanted.passed.end());
  // A recording is of the program as its files are compiled; LTO would do the last part elsewhere.
  if (!wanted.record.empty() && !wanted.asks)
    command.insert(command.end(), {"--start-no-unused-arguments", "-fno-lto", "--end-no-unused-arguments"});
  set("HEARTH_BTLP_MODE", wanted.mode);
  set("HEARTH_BTLP_GAPS", wanted.gaps.asked_for());
  set("HEARTH_BTLP_PLACING", wanted.placing);
  set("HEARTH_BTLP_EMBED", "1");
  set("HEARTH_BTLP_STRIP", wanted.has_lines ? "" : "1");
  set("HEARTH_BTLP_EXPLAIN_FILE", wanted.links ? "" : wanted.explain);
  set("HEARTH_BTLP_EXPLAIN", wanted.links ? wanted.explain : "");
  set("HEARTH_BTLP_REMARKS", wanted.remarks);
  set("HEARTH_BTLP_LIBRARY", wanted.record.empty() ? parts.library : parts.recorder);
  set("HEARTH_BTLP_RECORD", wanted.record);
  set("HEARTH_BTLP_PROFILE", wanted.profile);
  set("HEARTH_BTLP_LD", wanted.asks ? "" : linker_behind(wanted.linker, program));
  if (wanted.thin && wanted.links)
    say("-flto=thin: threads are typed from the files as they are written; what ThinLTO does is not seen.");
  return become(command);
}

}  // namespace hearth::cli
