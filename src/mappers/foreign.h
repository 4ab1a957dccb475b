// What the mappers on other people's libraries share. METIS, Scotch and Zoltan are opened when they are asked for and
// never linked: `hearth run` must not wait for them, and one build serves machines with and without them
// (docs/decisions/016-mappers-open-their-libraries.md). Their headers are needed to build (CMake: HEARTH_MAPPERS).
#pragma once

#include <string>
#include <vector>

#include "mappers/graph.h"

namespace hearth::mappers {

/// A shared object that stays open until the process ends. Its functions are looked up by name.
class ForeignLibrary {
 public:
  /// The first of these names that the loader finds.
  explicit ForeignLibrary(std::initializer_list<const char*> names);
  bool is_open() const { return handle_ != nullptr; }

  /// Sets a pointer to a function of the type that the library's header declares; false: it has none of that name.
  template <class Function>
  bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(look_up(name));
    return function != nullptr;
  }

 private:
  void* look_up(const char* name) const;
  void* handle_ = nullptr;
};

/// "metis is not built in: ..." and "libmetis.so.5 is not installed: ...".
std::string not_built_in(const char* mapper, const char* package);
std::string not_installed(const char* library, const char* package);

/// Whole numbers in the same proportions, each at least 1 (0 stays 0), with a sum that 32 bits hold. Whole numbers
/// that are small enough stay as they are.
std::vector<int> whole_numbers(const std::vector<double>& values);

/// A graph as those libraries want it: for each vertex its neighbours, one after the other.
struct CompressedGraph {
  std::vector<int> first;  // by vertex, and the end
  std::vector<int> neighbour;
  std::vector<int> edge_weight;
  std::vector<int> load;  // at least 1 each
};
CompressedGraph compressed(const Graph& graph);

}  // namespace hearth::mappers
