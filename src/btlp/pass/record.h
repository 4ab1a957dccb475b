// `hearth cc --record`: calls of the recorder (recorder/abi.h) at loads, stores and allocations.
#pragma once

namespace llvm {
class Module;
}

namespace hearth::btlp {

/// Works on optimised code, so that what is recorded is what runs. `exact`: nothing is left out for speed.
void insert_recording(llvm::Module& module, bool exact);

}  // namespace hearth::btlp
