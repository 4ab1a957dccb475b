// `hearth cc` and `hearth c++`: clang, with the pass that types threads, the link step that sees the whole
// program, and the
// library that places threads.
#pragma once

#include <string>

namespace hearth::cli {

/// The language, when this command line is one of the compiler's: `hearth cc …`, or the command under the name
/// hearth-cc.
enum class Compiler { none, c, cxx };
Compiler compiler_asked_for(int argc, char** argv);

/// The gaps of the algorithm with their two answers, and which of them each mode takes: for the help.
std::string gaps_in_words();

/// Becomes the compiler; returns only when that cannot be.
int compile_main(int argc, char** argv, Compiler compiler);

}  // namespace hearth::cli
