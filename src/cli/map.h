// `hearth map`: which thread on which core, by several mappers side by side; and `hearth run --places-from`.
#pragma once

#include <string>
#include <vector>

namespace hearth::cli {

struct MapRequest {
  std::string graph;                 // a graph file or a recording
  std::string machine;               // empty: this one
  std::vector<std::string> mappers;  // empty: all
  std::string places = "cores";      // or threads
  std::string json;                  // a file, or "-"
  bool list = false;
};
/// The exit status; what is wrong has been said.
int map_main(const MapRequest& request);

/// OMP_PLACES for the threads of a recorded program on this machine (or that of HEARTH_MACHINE): "{0},{4}", empty
/// where nothing is known of what they exchange, which has been said. False: the recording cannot be used, which has
/// been said, too.
bool places_from(const std::string& recording, const std::string& mapper, std::string& places);

}  // namespace hearth::cli
