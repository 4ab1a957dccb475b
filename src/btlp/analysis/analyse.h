// From a module to classes and a tree.
#pragma once

#include <string>

#include "btlp/analysis/model.h"

namespace llvm {
class Module;
}

namespace hearth::btlp {

/// How threads are typed, and where they are placed.
struct Rules {
  Mode mode = Mode::balanced;
  Gaps gaps;
  Insertion insertion = Insertion::before;
};

/// What HEARTH_BTLP_MODE, _GAPS and _PLACING say. `problem`: which word is wrong; it is left out.
Rules rules_of_environment(std::string& problem);

/// Changes the module (it is prepared for the analysis). `whole`: it is the whole program; without main() it is not.
Program analyse(llvm::Module& module, bool whole, const Rules& rules, const std::string& name);

}  // namespace hearth::btlp
