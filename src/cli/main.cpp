// The command `hearth`.
#include <string>

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/compile.h"
#include "cli/installation.h"
#include "cli/output.h"

namespace {

using namespace hearth;

std::string version_text() {
  const cli::Installation installation = cli::find_installation();
  return fmt::format("hearth {}, OpenMP 5.2\nlibrary: {}", HEARTH_VERSION,
                     installation.library.empty() ? "not found" : installation.library);
}

}  // namespace

int main(int argc, char** argv) {
  cli::guard_standard_streams();
  if (const cli::Compiler compiler = cli::compiler_asked_for(argc, argv); compiler != cli::Compiler::none)
    return cli::compile_main(argc, argv, compiler);
  return cli::close_output(cli::run_command_line(argc, argv, version_text));
}
