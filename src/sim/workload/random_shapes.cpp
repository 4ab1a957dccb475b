// The shapes of random programs that came later: iterations, graphs, recursion, phases, groups and loops.
#include "sim/workload/random_program.h"

namespace hearth::sim {

// Sums are made by a task for each row of blocks, which reads what the others wrote.
void RandomProgram::make_solver() {
  const std::uint64_t side = program_.side();
  const std::uint32_t sums = builder_.kind("sums");
  for (std::uint64_t sweep = 0; sweep < program_.repeats; ++sweep) {
    for (std::uint64_t i = 0; i < side * side; ++i) {
      begin_task();
      work(1);
      builder_.access(block(0, i, Mode::read_write));
      const std::uint64_t row = i / side, column = i % side;
      const auto edge = [&](bool there, std::uint64_t at) {
        if (!there) return;
        Access access = block(0, at, Mode::read);
        access.passes = 0.0625;
        builder_.access(access);
      };
      edge(row > 0, i - side);
      edge(row + 1 < side, i + side);
      edge(column > 0, i - 1);
      edge(column + 1 < side, i + 1);
      look_up();
      builder_.end_task();
    }
    builder_.task_wait();
    for (std::uint64_t row = 0; row < side; ++row) {
      begin_task(sums);
      work(0.25);
      for (std::uint64_t column = 0; column < side; ++column) {
        Access part = block(0, row * side + column, Mode::read);
        part.passes = 0.25;
        builder_.access(part);
      }
      builder_.end_task();
    }
    builder_.task_wait();
  }
}

// Who is asked: the square of a draw, so that few blocks are asked for by many; always the same ones.
void RandomProgram::make_graph() {
  std::vector<std::uint64_t> edges;
  std::vector<std::size_t> first{0};
  for (std::uint64_t i = 0; i < program_.blocks; ++i) {
    const double u = draw_.unit();
    const auto count = static_cast<std::uint64_t>(u * u * static_cast<double>(kMostEdges + 1));
    for (std::uint64_t edge = 0; edge < count; ++edge) {
      const double v = draw_.unit();
      edges.push_back(static_cast<std::uint64_t>(v * v * v * static_cast<double>(program_.blocks)));
    }
    first.push_back(edges.size());
  }
  for (std::uint64_t round = 0; round < program_.repeats; ++round) {
    for (std::uint64_t i = 0; i < program_.blocks; ++i) {
      begin_task();
      const std::size_t count = first[i + 1] - first[i];
      work(0.5 + 0.5 * static_cast<double>(count));
      builder_.access(block(0, i, Mode::read_write));
      for (std::size_t edge = first[i]; edge < first[i + 1]; ++edge) {
        Access asked = block(0, edges[edge], Mode::read);
        asked.passes = 0.5;
        asked.pattern = Pattern::random;
        builder_.access(asked);
      }
      look_up();
      builder_.end_task();
    }
    builder_.task_wait();
  }
}

// By the task that is open. What merges says that it goes through the two halves' blocks: of many, one in each of 8 parts.
void RandomProgram::make_sort(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t blocks = end - begin, middle = begin + blocks / 2;
  if (blocks > 1) {
    for (const bool left : {true, false}) {
      begin_task();
      make_sort(left ? begin : middle, left ? middle : end);
      builder_.end_task();
    }
    builder_.task_wait();
    declares_ = program_.declared == 1;
    work(0.125 * static_cast<double>(blocks));
    const std::uint64_t pieces = std::min<std::uint64_t>(blocks, 8);
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      Access part = block(0, begin + piece * blocks / pieces, Mode::read_write);
      part.passes = std::min(1.0F, static_cast<float>(blocks) / static_cast<float>(8 * pieces));
      builder_.access(part);
    }
    return;
  }
  work(1);
  builder_.access(block(0, begin, Mode::read_write));
  look_up();
}

// By the task that is open: it reads the parent's block, writes its own, and has two children as long as there are blocks.
void RandomProgram::make_carried(std::uint64_t blocks, std::uint64_t own) {
  work(1);
  builder_.access(block(0, own, Mode::write));
  if (own != 0) builder_.access(block(0, (own - 1) / 2, Mode::read));
  look_up();
  for (const std::uint64_t child : {2 * own + 1, 2 * own + 2}) {
    if (child >= blocks) continue;
    begin_task();
    make_carried(blocks, child);
    builder_.end_task();
  }
}

void RandomProgram::make_phases() {
  const std::vector<std::uint64_t> order = drawn_order();
  for (std::uint64_t round = 0; round < program_.repeats; ++round) {
    const bool across = round / 2 % 2 == 1;
    for (const std::uint64_t i : order) {
      begin_task();
      work(1);
      if (across)
        for (std::uint64_t k = 0; k < kAcross; ++k)
          builder_.access(part_of((i + k * program_.blocks / kAcross) % program_.blocks, i, kAcross, Mode::read_write));
      else
        builder_.access(block(0, i, Mode::read_write));
      look_up();
      builder_.end_task();
    }
    builder_.task_wait();
  }
}

void RandomProgram::make_groups() {
  const std::uint64_t count = std::min<std::uint64_t>(program_.blocks, 1 + program_.reads * 3);
  const std::uint32_t outer = builder_.kind("groups");
  for (std::uint64_t group = 0; group < count; ++group) {
    builder_.begin_task(outer);
    for (std::uint64_t round = 0; round < program_.repeats; ++round) {
      for (std::uint64_t i = group * program_.blocks / count; i < (group + 1) * program_.blocks / count; ++i)
        rewrite_in_a_task(i);
      builder_.task_wait();
    }
    builder_.end_task();
  }
}

// A part of a loop is a task of its own here, which says nothing of what it touches.
void RandomProgram::make_loops() {
  const std::uint32_t loop = builder_.kind("loop");
  const std::uint64_t parts = std::min(program_.blocks, kLoopParts);
  for (std::uint64_t round = 0; round < program_.repeats; ++round) {
    for (std::uint64_t part = 0; part < parts; ++part) {
      builder_.begin_task(loop);
      declares_ = false;
      const std::uint64_t begin = part * program_.blocks / parts, end = (part + 1) * program_.blocks / parts;
      work(0.25 * static_cast<double>(end - begin));
      for (std::uint64_t i = begin; i < end; ++i) builder_.access(block(0, i, Mode::read_write));
      builder_.end_task();
    }
    builder_.task_wait();
    for (std::uint64_t i = 0; i < program_.blocks; ++i) rewrite_in_a_task(i);
    builder_.task_wait();
  }
}

}  // namespace hearth::sim
