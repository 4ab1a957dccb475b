// Fuzzes the reader of recordings of threads, and what is done with a recording that was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../require.h"
#include "btlp/analysis/classify.h"
#include "btlp/analysis/matrices.h"
#include "btlp/analysis/recording.h"
#include "btlp/analysis/report.h"

namespace {

using namespace hearth::btlp;

/// main, two threads of sites that recordings may name, and an edge.
Program some_program() {
  Program program;
  for (int number = 0; number <= 2; ++number) {
    Node node;
    node.number = number;
    node.creator = number - 1;
    node.routine = node.routine_symbol = number == 0 ? "main" : number == 1 ? "ping" : "";
    node.site = number == 0 ? "" : "main#" + std::to_string(number - 1);
    program.nodes.push_back(node);
  }
  Edge edge;
  edge.to = 1;
  edge.object = "turn";
  edge.forward = true;
  program.edges.push_back(edge);
  return program;
}

void check(const Recording& recording) {
  const int threads = static_cast<int>(recording.threads.size()), objects = static_cast<int>(recording.objects.size());
  for (int n = 0; n < threads; ++n) {
    const Recording::Thread& thread = recording.threads[static_cast<std::size_t>(n)];
    REQUIRE(thread.number == n || thread.number == -1);
    REQUIRE(thread.creator < n);
  }
  for (const Recording::Touch& touch : recording.touches)
    REQUIRE(touch.thread >= 0 && touch.thread < threads && touch.object >= 0 && touch.object < objects);
  for (const Recording::Meeting& meeting : recording.meetings)
    REQUIRE(meeting.a >= 0 && meeting.a < meeting.b && meeting.b < threads && meeting.object < objects);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Recording recording;
  std::string problem;
  if (!parse_recording({reinterpret_cast<const char*>(data), size}, "fuzz.rec", recording, problem)) {
    REQUIRE(problem.starts_with("fuzz.rec:"));
    REQUIRE(std::atoi(problem.c_str() + sizeof("fuzz.rec:") - 1) >= 1);
    REQUIRE(problem.find('\n') == std::string::npos);
    return 0;
  }
  check(recording);
  for (const Mode mode : {Mode::literal, Mode::paper, Mode::balanced}) {
    Program program = some_program();
    program.mode = mode;
    add_recording(recording, program);
    classify(program);
    for (const Edge& edge : program.edges) {
      REQUIRE(edge.from >= 0 && edge.from <= 2 && edge.to >= 0 && edge.to <= 2);
      REQUIRE(!edge.recorded || edge.seen);
    }
    for (const Node& node : program.nodes) REQUIRE(!node.as_recorded || node.seen > 0);
    REQUIRE(missed_pairs(program).size() < program.edges.size());
    REQUIRE(!as_json(program).empty() && !as_text(program).empty());
  }
  return 0;
}
