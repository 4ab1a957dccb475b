#include "btlp/analysis/analyse.h"

#include <cstdlib>

#include <llvm/IR/Module.h>

#include "btlp/analysis/classify.h"
#include "btlp/analysis/prepare.h"
#include "btlp/analysis/sharing.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {

Rules rules_of_environment(std::string& problem) {
  Rules rules;
  const auto asked = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string mode = asked("HEARTH_BTLP_MODE"), insertion = asked("HEARTH_BTLP_PLACING");
  if (!mode.empty() && !parse_mode(mode, rules.mode))
    problem = "HEARTH_BTLP_MODE=\"" + mode + "\": legal: literal, paper, balanced";
  std::string wrong;
  if (!rules.gaps.add(asked("HEARTH_BTLP_GAPS"), wrong)) problem = "HEARTH_BTLP_GAPS: " + wrong;
  if (insertion == "after")
    rules.insertion = Insertion::after;
  else if (!insertion.empty() && insertion != "before")
    problem = "HEARTH_BTLP_PLACING=\"" + insertion + "\": legal: before, after";
  return rules;
}

Program analyse(llvm::Module& module, bool whole, const Rules& rules, const std::string& name) {
  Program program;
  program.name = name;
  program.mode = rules.mode;
  program.gaps = rules.gaps;
  program.insertion = rules.insertion;
  const llvm::Function* main = module.getFunction("main");
  program.whole = whole && main != nullptr && !main->isDeclaration();
  prepare(module, program.whole);
  Progress progress(name);
  Walk walk(module, program.whole, program, progress);
  walk.run();
  walk.name_routines();
  walk.find_joinable();
  find_sharing(walk, program, progress);
  if (!program.decided(Gap::thread_per)) one_thread_per_creation(program);
  classify(program);
  return program;
}

}  // namespace hearth::btlp
