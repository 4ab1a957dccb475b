// What the two papers say, as data: each claim in our words, and what has to be true of a visit's cells for
// it to come out. Nothing here runs; papers.cpp counts in how many draws over a machine's ranges it does.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "papers/cells.h"

namespace hearth::papers {

/// `left` over `right` lies in [least, most]. Without `right`: `left` itself.
struct Comparison {
  std::string left;
  std::string right;
  double least;
  double most;
};

// A hundredth apart is a winner; a twentieth more is 'maintained', a tenth either way 'alike'.
inline Comparison below(std::string left, std::string right) {
  return {std::move(left), std::move(right), 0, 0.99};
}
inline Comparison above(std::string left, std::string right) {
  return {std::move(left), std::move(right), 1.01, std::numeric_limits<double>::infinity()};
}
inline Comparison maintained(std::string left, std::string right) {
  return {std::move(left), std::move(right), 0, 1.05};
}
inline Comparison alike(std::string left, std::string right) {
  return {std::move(left), std::move(right), 0.9, 1.1};
}
inline Comparison within(std::string cell, double least, double most) {
  return {std::move(cell), {}, least, most};
}

enum class Kind : std::uint8_t {
  sign,          // who wins; a magnitude stands beside it if the paper gives one
  construction,  // holds by how the model is made, and proves nothing
  magnitude,     // the number itself
  policy,        // no paper's: what Hearth's policies choose and foresee, held against the simulator
};
const char* name_of(Kind kind);

struct Claim {
  const char* id;
  const char* machine;  // name of the model file, without its ending
  const char* where;    // the paper and its section
  const char* text;
  Kind kind;
  /// A prototype saw the sign come out, so it has to in nine of ten draws; else the row is there to be
  /// honest.
  bool expected;
  const char* theirs;           // their number and what it is of; empty: none is given
  const char* decides;          // the features of the model without which it would not come out, or would
  const char* fitted;           // which figures were set to a published number that this row also shows
  std::vector<Comparison> all;  // all have to be true; the first one's ratio is `ours`
};

std::vector<Claim> muddukrishna();
std::vector<Claim> broquedis();

/// The first comparison's ratio.
double ratio(const Claim& claim, const Cells& cells);
bool comes_out(const Claim& claim, const Cells& cells);
/// Names of cells that a claim compares and nobody computes: a typing error in the table.
std::vector<std::string> missing(const Claim& claim, const Cells& cells);

}  // namespace hearth::papers
