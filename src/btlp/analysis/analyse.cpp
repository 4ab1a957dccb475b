#include "btlp/analysis/analyse.h"

#include <llvm/IR/Module.h>

#include "btlp/analysis/classify.h"
#include "btlp/analysis/prepare.h"
#include "btlp/analysis/sharing.h"
#include "btlp/analysis/walk.h"

namespace hearth::btlp {

Program analyse(llvm::Module& module, bool whole, Mode mode, const std::string& name) {
  Program program;
  program.name = name;
  program.mode = mode;
  const llvm::Function* main = module.getFunction("main");
  program.whole = whole && main != nullptr && !main->isDeclaration();
  prepare(module, program.whole);
  Walk walk(module, program.whole, program);
  walk.run();
  walk.name_routines();
  find_sharing(walk, program);
  classify(program);
  return program;
}

}  // namespace hearth::btlp
