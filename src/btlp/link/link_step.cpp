#include "btlp/link/link_step.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Regex.h>

#include "btlp/analysis/analyse.h"
#include "btlp/analysis/classify.h"
#include "btlp/analysis/recording.h"
#include "btlp/analysis/report.h"
#include "btlp/link/inputs.h"
#include "btlp/link/leftovers.h"
#include "btlp/link/plan_object.h"

extern char** environ;

namespace hearth::btlp {
namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void say(const std::string& text) { std::fprintf(stderr, "hearth: %s\n", text.c_str()); }

bool has(const std::vector<std::string>& arguments, const char* word) {
  for (const std::string& argument : arguments)
    if (argument == word) return true;
  return false;
}

/// The linker's exit status. `output`: a file for its standard output; empty: ours.
int run_linker(const std::vector<std::string>& arguments, const std::string& output) {
  std::string linker = setting("HEARTH_BTLP_LD");
  if (linker.empty()) linker = "ld";
  std::vector<char*> words{linker.data()};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!output.empty())
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, linker.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    say(linker + ": " + std::strerror(problem));
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A folder that goes away with this object.
class Folder {
 public:
  Folder() {
    const std::string base = setting("TMPDIR");
    path_ = (base.empty() ? "/tmp" : base) + "/hearth-ld-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
    if (path_.empty()) return;
    set_left_folder(path_);
    for (const char* name : kFiles) add_leftover(file(name));
  }
  ~Folder() {
    if (path_.empty()) return;
    keep_leftovers();
    set_left_folder("");
    for (const char* name : kFiles) unlink(file(name).c_str());
    rmdir(path_.c_str());
  }
  std::string file(const char* name) const { return path_ + "/" + name; }
  bool good() const { return !path_.empty(); }

 private:
  static constexpr const char* kFiles[] = {"trace", "plan.o"};  // all that is ever in it
  std::string path_;
};

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// False: the recording cannot be used, which is said.
bool add_recording_of(const std::string& path, Program& program) {
  std::ifstream file(path);
  std::string problem = file ? "" : path + ": " + std::strerror(errno);
  Recording recording;
  if (file) {
    file.close();
    parse_recording(read_all(path), path, recording, problem);
  }
  if (!problem.empty()) {
    say(problem + ". Threads are typed without this recording.");
    return false;
  }
  add_recording(recording, program);
  classify(program);
  return true;
}

void explain(const Program& program) {
  const std::string path = setting("HEARTH_BTLP_EXPLAIN");
  if (path.empty()) return;
  if (path == "-") {
    std::fputs(as_json(program).c_str(), stdout);
    return;
  }
  std::ofstream file(path);
  file << as_file(program, path);
  file.close();
  if (!file) say(path + ": " + std::strerror(errno));
}

void remarks(const Program& program) {
  const std::string wanted = setting("HEARTH_BTLP_REMARKS");
  if (wanted.empty() || !llvm::Regex(wanted).match("hearth")) return;
  for (const Node& node : program.nodes) {
    if (node.number == 0) continue;
    std::string reasons;
    for (const std::string& reason : node.reasons) reasons += "; " + reason;
    std::fprintf(stderr, "%s:%d: remark: %s is %s%s [-Rpass=hearth]\n", node.file.empty() ? "?" : node.file.c_str(),
                 node.line, node.routine.empty() ? "a thread" : (node.routine + "()").c_str(), class_name(node.type),
                 reasons.c_str());
  }
}

/// What was not seen, told once.
void tell(Program& program, const Inputs& inputs) {
  for (const std::string& problem : inputs.problems) program.notes.push_back(problem);
  if (!inputs.foreign.empty()) {
    std::string text =
        inputs.foreign.front() +
        (inputs.foreign.size() > 1 ? " and " + std::to_string(inputs.foreign.size() - 1) + " more" : "") +
        ": compiled without hearth cc, so what its code does is not seen; threads that it may concern are unknown and "
        "are left to the system";
    program.notes.push_back(text);
  }
  if (program.nodes.size() < 2) return;
  for (const std::string& note : program.notes) say(note + ".");
}

/// Wrong words were refused by `hearth cc`, or told by the pass.
Rules wanted_rules() {
  std::string problem;
  return rules_of_environment(problem);
}

/// The recorder stands in front of libc, so it comes before all other libraries.
std::vector<std::string> with_recorder(const std::vector<std::string>& arguments) {
  const std::string library = setting("HEARTH_BTLP_LIBRARY");
  std::vector<std::string> all{"--push-state", "--no-as-needed", library,
                               "--pop-state",  "-rpath",         library.substr(0, library.rfind('/'))};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

std::string output_of(const std::vector<std::string>& arguments) {
  for (std::size_t n = 0; n + 1 < arguments.size(); ++n)
    if (arguments[n] == "-o") return arguments[n + 1];
  return "a.out";
}

void silence(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo*, void*) {}, nullptr);
}

}  // namespace

int link_step(const std::vector<std::string>& arguments) {
  const bool partial = has(arguments, "-r") || has(arguments, "--relocatable") || has(arguments, "-i");
  if (!setting("HEARTH_BTLP_RECORD").empty() && (has(arguments, "-static") || has(arguments, "-static-pie"))) {
    say("--record: the recorder is a shared library, so " + output_of(arguments) + " cannot be linked statically.");
    return 1;
  }
  clear_up_when_interrupted();
  Folder folder;
  if (partial || !folder.good()) return run_linker(arguments, "");
  const bool records = !setting("HEARTH_BTLP_RECORD").empty();
  std::vector<std::string> traced = records ? with_recorder(arguments) : arguments;
  traced.insert(traced.end(), {"--trace", "--trace"});  // twice: members of archives, too
  const int status = run_linker(traced, folder.file("trace"));
  if (status != 0) return status;
  add_leftover(output_of(arguments));
  // A recording program has no plan: without a question there is nothing to analyse.
  if (records && setting("HEARTH_BTLP_EXPLAIN").empty() && setting("HEARTH_BTLP_REMARKS").empty()) return 0;

  auto& context = *new llvm::LLVMContext;  // never freed: the process ends, and a reader that crashed has left it halfway
  silence(context);
  Inputs inputs = read_inputs(read_all(folder.file("trace")), context);
  const bool shared = has(arguments, "-shared") || has(arguments, "--shared") || has(arguments, "-Bshareable");
  Program program;
  program.name = output_of(arguments);
  program.nodes.emplace_back();
  std::string triple;
  if (inputs.module != nullptr) {
    triple = inputs.module->getTargetTriple();
    const bool whole = !shared && inputs.foreign.empty() && inputs.problems.empty();
    program = analyse(*inputs.module, whole, wanted_rules(), program.name);
    const std::string recording = setting("HEARTH_BTLP_PROFILE");
    if (!recording.empty()) add_recording_of(recording, program);
  }
  tell(program, inputs);
  explain(program);
  if (program.nodes.size() < 2) return 0;
  remarks(program);
  if (records) return 0;
  const std::string library = setting("HEARTH_BTLP_LIBRARY");
  if (library.empty()) return 0;
  if (has(arguments, "-static") || has(arguments, "-static-pie")) {
    say(program.name + " is linked statically: its threads are not placed.");
    return 0;
  }
  const std::string problem = write_plan(program, triple, folder.file("plan.o"));
  if (!problem.empty()) {
    say("the plan of " + program.name + " could not be written: " + problem + ". Its threads are not placed.");
    return 0;
  }
  std::vector<std::string> again = arguments;
  again.push_back(folder.file("plan.o"));
  again.push_back("--no-as-needed");
  again.push_back(library);
  again.push_back("-rpath");
  again.push_back(library.substr(0, library.rfind('/')));
  return run_linker(again, "");
}

int analyse_files(const std::vector<std::string>& given) {
  clear_up_when_interrupted();
  Rules rules;
  std::vector<std::string> arguments = given;
  std::string recording, problem;
  const auto option = [&](const char* name, std::string& value) {
    const std::string begin = std::string(name) + "=";
    if (arguments.size() < 2 || arguments[1].rfind(begin, 0) != 0) return false;
    value = arguments[1].substr(begin.size());
    arguments.erase(arguments.begin() + 1);
    return true;
  };
  std::string value;
  for (bool more = true; more && problem.empty();) {
    more = option("--profile", recording);
    if (option("--gap", value)) more = rules.gaps.add(value, problem);
    if (!option("--insert", value)) continue;
    more = true;
    rules.insertion = value == "after" ? Insertion::after : Insertion::before;
    if (value != "after" && value != "before") problem = value + ": legal: before, after";
  }
  if (!problem.empty()) {
    say(problem + ".");
    return 2;
  }
  if (arguments.size() < 5 || !parse_mode(arguments[1], rules.mode) ||
      (arguments[2] != "whole" && arguments[2] != "part")) {
    say("usage: hearth-ld --analyse [--profile=RECORDING] [--gap=NAME=ANSWER,...] [--insert=before|after] "
        "literal|paper|balanced whole|part OUT FILE...");
    return 2;
  }
  auto& context = *new llvm::LLVMContext;  // never freed: the process ends, and a reader that crashed has left it halfway
  silence(context);
  Inputs inputs = read_files({arguments.begin() + 4, arguments.end()}, context);
  for (const std::string& each : inputs.problems) say(each + ".");
  if (!inputs.problems.empty() || inputs.module == nullptr) {
    if (inputs.problems.empty()) say("there is no bitcode in " + arguments[4] + ".");
    return 1;
  }
  Program program = analyse(*inputs.module, arguments[2] == "whole", rules, arguments[4]);
  if (!recording.empty() && !add_recording_of(recording, program)) return 1;
  const std::string& out = arguments[3];
  if (out == "-") {
    std::fputs(as_text(program).c_str(), stdout);
    return 0;
  }
  std::ofstream file(out);
  file << as_file(program, out);
  file.close();
  if (file) return 0;
  say(out + ": " + std::strerror(errno));
  return 1;
}

}  // namespace hearth::btlp
