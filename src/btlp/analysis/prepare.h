// Makes a module fit for the analysis: creations are tagged, wrappers inlined, values out of memory.
//
// Works on a copy that is never compiled, so it may inline more than a compiler would. One thread per module.
#pragma once

#include <string>

namespace llvm {
class CallBase;
class Module;
}  // namespace llvm

namespace hearth::btlp {

/// Gives every creation of a thread a key (metadata) that is the same in all copies of the module: the function and the
/// position in it, with the file where the function's name is not unique. Also keeps alike creations from being merged.
/// The number of creations.
int tag_creations(llvm::Module& module);
/// Empty: it has none.
std::string creation_tag(const llvm::CallBase& call);

/// Does the creation stand in the body of a loop of its own function, as it was before anything was inlined? The C++
/// libraries' own functions stand for whoever calls them: `looped`.
bool stands_in_loop(const llvm::CallBase& call, bool looped);

/// `whole`: the module is the whole program, so that only main() is called from outside.
void prepare(llvm::Module& module, bool whole);

}  // namespace hearth::btlp
