// What is counted of a construct's tasks, and how that is told. Between explain.cpp, which counts, and explain_text.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/why.h"

namespace hearth::rt::explain {

enum Count : std::uint8_t {
  kCreated,
  kRan,
  kSilent,  // of those that ran: nothing says what they touch, or nobody deals any
  kPieces,  // the runtime's own tasks, in which those of a taskloop are run
  kAsked,   // of tasks, or of pieces; so are the next two, and the reasons
  kForetold,  // ns, of all that were asked about
  kAsking,    // ns
  kTimed,     // of tasks that have not run others meanwhile
  kTime,      // ns
  kHome,      // ran where they lose nothing
  kHomeTimed,
  kHomeTime,
  kFar,
  kFarTimed,
  kFarTime,
  kHelped,  // were dealt there, and ran at home
  kByArguments,  // without clauses, and what their arguments point to stands for their data
  kByRuns,       // or where the last one with the same arguments ran
  kWhy,     // and from there on by reason
  kCounts = kWhy + policy::kWhys
};

struct Sums {
  const void* construct = nullptr;
  std::uint64_t n[kCounts] = {};
  std::uint64_t why(policy::Why reason) const { return n[kWhy + static_cast<std::size_t>(reason)]; }
};

/// Whose tasks they are.
struct Dealing {
  const char* policy;
  std::size_t locations;  // of the machine
  bool deals;             // the policy does, on this machine
  bool keeps_accounts;    // and asks no more where that does not pay
};

/// The lines of one construct, each with its end; cut at `room`. Returns their length.
std::size_t construct_text(const Sums& sums, const Dealing& dealing, const char* place, char* out, std::size_t room);

}  // namespace hearth::rt::explain
