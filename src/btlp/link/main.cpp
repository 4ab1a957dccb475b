// hearth-ld: stands between clang and the linker, and does the whole-program part.
//
//   1. links as asked, and has the linker name the files that it used;
//   2. takes the bitcode out of those that have some, links it in memory, and analyses it as one program;
//   3. links again, with the plan of the threads and the support library.
// Programs that create no threads are linked once. Whatever fails in 2 or 3 leaves the program of step 1 and one
// sentence.
//
//   hearth-ld --analyse [--profile=RECORDING] [--gap=NAME=ANSWER,...] [--insert=before|after] MODE whole|part OUT.{json,dot,svg,txt} FILE...    the same analysis, of bitcode files; OUT
// - is text
// Settings come from `hearth cc` in the environment: HEARTH_BTLP_LD (the linker), _MODE, _GAPS, _PLACING, _EXPLAIN, _LIBRARY, _REMARKS,
// _RECORD (sampled or exact: link the recorder), _PROFILE (a recording to learn from).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include "btlp/link/inputs.h"
#include "btlp/link/link_step.h"

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "--analyse") return hearth::btlp::analyse_files(arguments);
  return hearth::btlp::link_step(arguments);
}
