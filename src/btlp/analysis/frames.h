// Where an instruction stands in the program's own source, behind what was inlined and what the C++ library adds.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class DISubprogram;
class Instruction;
}  // namespace llvm

namespace hearth::btlp {

struct Frame {
  std::string function, file;
  int line = 0, column = 0;
};

bool is_system(const llvm::DISubprogram* program);
/// The program's own functions at this place, innermost first: those that were inlined, too.
std::vector<Frame> frames_of(const llvm::Instruction& instruction);
/// What an allocation is called in reports and recordings.
std::string allocation_name(const llvm::Instruction& instruction);

}  // namespace hearth::btlp
