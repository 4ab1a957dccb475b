// The global pass (policy/global_pass.h) over programs whose teams get more and less to do: how long they take with it and
// without it. Hearth's own: no paper has it but as future work.
#pragma once

#include "papers/cells.h"
#include "stream.h"

namespace hearth::papers {

/// Enters cells that begin with "balance/".
void balance(const Visit& visit, const sim::StreamMachine& streams, Cells& cells);

}  // namespace hearth::papers
