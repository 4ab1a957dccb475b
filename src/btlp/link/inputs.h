// The files that a link used, and the bitcode in them.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace hearth::btlp {

struct Inputs {
  std::unique_ptr<llvm::Module> module;  // null: no file has bitcode
  std::vector<std::string> foreign;      // objects of the program without bitcode
  std::vector<std::string> problems;     // one sentence each
};

/// `trace`: what `ld --trace` has printed.
Inputs read_inputs(const std::string& trace, llvm::LLVMContext& context);
/// Bitcode files, or objects that carry some.
Inputs read_files(const std::vector<std::string>& paths, llvm::LLVMContext& context);

}  // namespace hearth::btlp
