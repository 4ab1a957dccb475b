#include "runtime/state/process.h"

namespace hearth::rt {

constinit Process process;

}  // namespace hearth::rt
