// What both orders of classification do alike (classify.cpp and classify_one_by_one.cpp; Gap::order).
#pragma once

#include <set>
#include <string>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

/// Algorithm 1 thread by thread, in order of creation.
void classify_one_by_one(Program& program);

/// Is it a thread of a loop, by the answer to Gap::loop?
bool looped(const Program& program, const Node& node);
/// Gap::loop_threads, first answer.
void put_into_loop(const Program& program, Node& node);
/// The earliest thread before this one whose data it uses, else who created it.
int parent_of(const Program& program, const Node& node);
/// "Make thread Ai the child of thread A": unless that closes a circle.
void make_child(Program& program, int child, int parent);
/// Does one write what the other reads, as a parameter or as a global?
bool writes_for(const Program& program, int writer, int reader, bool parameter);
/// Reasons, in words.
void explain_sharing(const Program& program, Node& node, int with);
void explain_receipts(const Program& program, Node& node);

}  // namespace hearth::btlp
