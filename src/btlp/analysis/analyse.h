// From a module to classes and a tree.
#pragma once

#include <string>

#include "btlp/analysis/model.h"

namespace llvm {
class Module;
}

namespace hearth::btlp {

/// Changes the module (it is prepared for the analysis). `whole`: it is the whole program; without main() it is not.
Program analyse(llvm::Module& module, bool whole, Mode mode, const std::string& name);

}  // namespace hearth::btlp
