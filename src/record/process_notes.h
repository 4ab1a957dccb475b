// What the tool says of the process as a whole, as lines of its text file: command, clock, nodes, code.
//
// By the thread that begins or ends the recording; note() is safe beside others.
#pragma once

namespace hearth::record {

/// As the recording begins. False, and the recording stopped: it cannot be written.
bool note_process(const char* runtime);
/// A reading of the clocks, to convert the records' times by.
void note_clock();
/// Which code lies where, if that has changed.
void note_modules();

}  // namespace hearth::record
