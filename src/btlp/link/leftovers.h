// What a link that is interrupted must not leave behind: its folder of temporary files, a program that has been linked but has
// no plan yet (make would take it for finished), and a half-written line of progress.
//
// One link per process, one thread; the handler only makes calls that are safe in one.
#pragma once

#include <string>

namespace hearth::btlp {

/// From here on, an interruption, a hang-up or an order to end clears up first. What is ignored stays ignored.
void clear_up_when_interrupted();
/// A file that goes when the link is interrupted, if it is an ordinary file; at most four, names over 4095 bytes are left.
void add_leftover(const std::string& file);
/// They are what they should be now.
void keep_leftovers();
/// A folder that goes after the files; empty: none.
void set_left_folder(const std::string& folder);

}  // namespace hearth::btlp
