// The machine this process is on: the process-wide Allowance and Machine, each made when it is first asked
// for.
//
// Any thread may call these at any time. The first callers may do the work side by side; one result is
// published (release, paired with the readers' acquire) and the others are dropped. So there is no lock that
// a fork() could leave held, and no thread ever waits. What is returned lives, unchanged, until the process
// ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/allowance.h"
#include "topology/loaded.h"
#include "topology/machine.h"

namespace hearth::topology {

/// Stage one: affinity mask and quota. Tens of microseconds.
const Allowance& allowance();

/// Stage two: the whole machine. On large machines milliseconds, so the runtime asks only when places,
/// locations or distances matter. HEARTH_MACHINE decides what it is, if pretend() passed it on; a value that
/// cannot be used costs one warning and gives the real machine.
const Machine& machine();

/// Passes the value of HEARTH_MACHINE on (empty: the real machine). Only before the first machine() in the
/// process has it any effect; false when that is past.
bool pretend(std::string_view description);

/// What the locations of machine() are, with the same proviso. Where that would be more than `most`, they are
/// the nodes, and one warning says so.
void choose_locations(LocationKind kind, std::size_t most);

/// HEARTH_MACHINE's forms: the path of a model file (ends in .toml) or of an hwloc XML file (ends in .xml),
/// an hwloc synthetic string (has a colon or a blank), or the name of a model in one of `model_folders`.
LoadedMachine load_machine(std::string_view description, const std::vector<std::string>& model_folders);

/// Where models lie: share/hearth/models beside the library or the program that holds this code, and the
/// source tree's models/ when it is still there.
std::vector<std::string> model_folders();

/// The names of the models in those folders, sorted.
std::vector<std::string> models_in(const std::vector<std::string>& folders);
/// The file of the model with this name in the first of the folders that has it; empty: none has.
std::string model_path(const std::string& name, const std::vector<std::string>& folders);

/// All names, for messages: "opteron-6172x4, ...".
std::string model_names(const std::vector<std::string>& folders);

}  // namespace hearth::topology
