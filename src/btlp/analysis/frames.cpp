#include "btlp/analysis/frames.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace hearth::btlp {

bool is_system(const llvm::DISubprogram* program) {
  const llvm::StringRef file = program->getFilename();
  const llvm::StringRef linkage = program->getLinkageName();
  return file.starts_with("/usr/include") || file.starts_with("/usr/lib") || file.contains("/include/c++/") ||
         linkage.starts_with("_ZNSt") || linkage.starts_with("_ZSt") || linkage.starts_with("_ZNKSt");
}

/// The program's own functions at this place, innermost first: those that were inlined, too.
std::vector<Frame> frames_of(const llvm::Instruction& instruction) {
  std::vector<Frame> frames;
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  for (; location != nullptr; location = location->getInlinedAt()) {
    const llvm::DISubprogram* program = location->getScope()->getSubprogram();
    if (program == nullptr || is_system(program)) continue;
    frames.push_back({program->getName().str(), program->getFilename().str(), static_cast<int>(location->getLine()),
                      static_cast<int>(location->getColumn())});
  }
  if (frames.empty() && !instruction.getDebugLoc()) {
    const llvm::DISubprogram* program = instruction.getFunction()->getSubprogram();
    if (program == nullptr || !is_system(program))
      frames.push_back({instruction.getFunction()->getName().str(), "", 0, 0});
  }
  return frames;
}

std::string allocation_name(const llvm::Instruction& instruction) {
  const std::vector<Frame> frames = frames_of(instruction);
  if (frames.empty()) return "allocation";
  return "allocation in " + frames.front().function + "() at line " + std::to_string(frames.front().line);
}

}  // namespace hearth::btlp
