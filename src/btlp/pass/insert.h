// Replaces each creation of a thread by one that lets the support library place the thread before its routine runs.
#pragma once

#include "btlp/analysis/model.h"

namespace llvm {
class Module;
}

namespace hearth::btlp {

/// `program`: what one file tells, used where the link does not see the whole program. The number of replaced calls.
int insert_placing(llvm::Module& module, const Program& program);

}  // namespace hearth::btlp
