// What the analysis finds out about a program's threads, as plain values without a word of LLVM, so that classes,
// trees and
// the report can be tested alone.
//
// Filled by Walk (walk.h) and Sharing (sharing.h); the classes by classify() (classify.h). One thread of control.
#pragma once

#include <cstdint>

#include <string>
#include <vector>

#include "btlp/analysis/gaps.h"

namespace hearth::btlp {

enum class Class : std::uint8_t { autonomous, side_by_side, postponed, unknown };

const char* mode_name(Mode mode);
const char* class_name(Class type);
/// False: no such mode.
bool parse_mode(const std::string& text, Mode& mode);

/// The estimated work of one instance, from block frequencies: a heuristic, and called so wherever it is shown.
struct Cost {
  double flops = 0, integer_operations = 0, bytes = 0;
};

/// Two threads that can touch the same bytes, at least one of them writing. `from` and `to` are node numbers; an edge
/// between instances of one node has from == to.
struct Edge {
  int from = 0, to = 0;
  std::string object;       // what is shared: a variable, "allocation at file:line", or "return value"
  int line = 0;             // where the writing thread writes it; 0: not known
  bool forward = false;     // `from` writes what `to` reads
  bool backward = false;    // `to` writes what `from` reads
  bool parameter = false;   // the reader gets it through its argument, not as a global
  double bytes = 0;         // moved per instance, an estimate
  bool seen = false;        // a recording has it
  bool recorded = false;    // a recording alone has it
  std::uint64_t reads = 0;  // recorded reads of what the other one had written last
  bool strong = false;      // it is part of the innermost work of at least one side
};

/// A thread, or the instances of a thread that one place creates. Node 0 is the thread that runs main().
struct Node {
  int number = 0;
  int creator = -1;
  std::string site;      // which creation, the same in the program that runs (tag.h)
  std::string api;       // "pthread_create"
  std::string function;  // where it is created
  std::string file;
  int line = 0;
  std::string place;              // lines and columns of the whole path, to tell paths apart
  std::vector<std::string> path;  // calls from the creating thread's start to `function`, in the program's own code
  std::string routine;            // empty: not known
  std::string routine_symbol;
  bool in_loop = false;  // it is created more than once
  bool in_body = false;  // the call stands in a loop of its own function, however often that runs
  bool many = false;     // more than one instance: in a loop, or created by a thread that is
  bool creates = false;  // it creates threads itself
  int more_places = 0;   // one node stands for what is created here and at so many other places
  bool detached = false;
  std::string may_not_join;  // why it is not sure that it can be joined until its creator goes on; empty: it is
  std::vector<std::string> more_routines;  // of others that were made one with it (Gap::thread_per)
  bool open = false;           // code outside of what was seen may share its data
  bool loop_open = false;      // code outside of what was seen may create it in a loop
  std::string unknown_reason;  // why its data is not known; empty: it is
  Cost cost;
  int seen = 0;  // threads of a recording that are this one

  Class type = Class::unknown;
  bool as_recorded = false;  // the analysis alone does not know its class
  int parent = 0;            // in the communication tree
  bool in_tree = true;       // `literal` leaves threads of a loop outside
  std::vector<std::string> reasons;
};

/// A thread writes what another one can reach from its argument (Gap::parameter).
struct Receipt {
  int writer = 0, receiver = 0;
  std::string object;
};

/// Where a thread gets its CPUs.
enum class Insertion : std::uint8_t {
  before,  // in the new thread, before its routine
  after,   // in its creator, behind the creation, as the paper has it: only where the thread can surely be joined
};

struct Program {
  std::string name;
  Mode mode = Mode::balanced;
  Gaps gaps;
  Insertion insertion = Insertion::before;
  bool whole = false;       // everything of the program was seen
  std::vector<Node> nodes;  // in order of creation; [0] is main
  std::vector<Edge> edges;
  std::vector<Receipt> receipts;  // where they were asked for
  std::string recording;  // the file; empty: none
  bool recording_is_exact = false;
  std::uint64_t contexts = 0;  // how much work the analysis was: functions on their call paths,
  std::uint64_t steps = 0;     // and instructions that it looked at
  std::vector<std::string> notes;  // what was not seen, and what that costs

  bool decided(Gap gap) const { return gaps.decided(gap, mode); }
};

}  // namespace hearth::btlp
