// stream_times MODEL: how long streams and moves take by the simulator's rules (bench/papers/stream.h). Reads one JSON
// array of phases; a phase is {"streams": [[node, [bytes, written, part on node 0, part on node 1, ...], ...], ...]} or
// {"moves": [[bytes, from, to], ...], "touch": bool}. Writes an array of nanoseconds, one for each.
#include <cstdio>

#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "papers/stream.h"
#include "topology/model.h"

namespace {

using hearth::sim::Stream;
using hearth::sim::StreamMachine;
using Json = nlohmann::json;

double ns_of(const StreamMachine& machine, const Json& phase) {
  if (phase.contains("moves")) {
    std::vector<StreamMachine::Move> moves;
    for (const Json& move : phase["moves"]) moves.push_back({move[0], move[1], move[2]});
    return phase.value("touch", false) ? machine.next_touch_ns(moves) : machine.move_memory_ns(moves);
  }
  std::vector<Stream> streams;
  for (const Json& thread : phase.at("streams")) {
    Stream stream{.node = thread.at(0), .stretches = {}};
    for (std::size_t i = 1; i < thread.size(); ++i) {
      hearth::sim::Stretch stretch{.bytes = thread[i].at(0), .on = {}, .written = thread[i].at(1) != 0};
      for (std::size_t node = 0; node < machine.nodes(); ++node) stretch.on.push_back(thread[i].at(2 + node));
      stream.stretches.push_back(stretch);
    }
    streams.push_back(stream);
  }
  return machine.ns(streams);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stream_times MODEL < PHASES\n");
    return 2;
  }
  const hearth::topology::LoadedMachine machine = hearth::topology::load_model(argv[1]);
  if (!machine.ok()) {
    std::fprintf(stderr, "stream_times: %s\n", machine.error.c_str());
    return 2;
  }
  const hearth::sim::LoadedParameters parameters = hearth::sim::load_parameters(argv[1], machine.machine);
  if (!parameters.ok()) {
    std::fprintf(stderr, "stream_times: %s\n", parameters.error().c_str());
    return 2;
  }
  const Json phases = Json::parse(std::cin, nullptr, false);
  if (!phases.is_array()) {
    std::fprintf(stderr, "stream_times: no array of phases on the standard input\n");
    return 2;
  }
  const StreamMachine streams(machine.machine, parameters.parameters);
  Json times = Json::array();
  for (const Json& phase : phases) times.push_back(ns_of(streams, phase));
  std::cout << times << '\n';
  return 0;
}
