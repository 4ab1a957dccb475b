// The functions that create threads, as one table: another one is one line.
//
// Constant; used by the pass (which replaces the calls) and by the analysis (which follows them).
#pragma once

#include <string_view>

namespace llvm {
class CallBase;
class Function;
}  // namespace llvm

namespace hearth::btlp {

/// How a thread is given its routine.
enum class Shape : unsigned char {
  function,  // a function and its argument are arguments of the call
  state,     // libstdc++: an object whose virtual function _M_run() is the routine
};

struct Creator {
  std::string_view name;
  std::string_view shown;  // what people call it
  Shape shape = Shape::function;
  int handle = -1;      // the argument that receives the thread's handle; -1: it is the result
  int attributes = -1;  // the argument with pthread attributes
  int routine = -1;
  int argument = -1;
  bool returns_int = false;     // the routine's type: int (*)(void*), else void* (*)(void*)
  bool zero_is_success = true;  // else the result is the handle, and null means failure
};

const Creator* find_creator(std::string_view name);
/// The creator that this instruction calls; null: none.
const Creator* creator_called(const llvm::CallBase& call);

}  // namespace hearth::btlp
