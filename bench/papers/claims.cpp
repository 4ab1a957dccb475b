#include "papers/claims.h"

namespace hearth::papers {
namespace {

double ratio_of(const Comparison& comparison, const Cells& cells) {
  const double left = cells.at(comparison.left);
  return comparison.right.empty() ? left : left / cells.at(comparison.right);
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::sign: return "sign";
    case Kind::construction: return "by construction";
    case Kind::magnitude: return "magnitude";
    case Kind::policy: return "Hearth's own";
  }
  return "";
}

double ratio(const Claim& claim, const Cells& cells) { return ratio_of(claim.all.front(), cells); }

bool comes_out(const Claim& claim, const Cells& cells) {
  for (const Comparison& comparison : claim.all) {
    const double value = ratio_of(comparison, cells);
    if (!(value >= comparison.least && value <= comparison.most)) return false;
  }
  return true;
}

std::vector<std::string> missing(const Claim& claim, const Cells& cells) {
  std::vector<std::string> names;
  for (const Comparison& comparison : claim.all) {
    for (const std::string& name : {comparison.left, comparison.right}) {
      if (!name.empty() && !cells.contains(name)) names.push_back(name);
    }
  }
  return names;
}

}  // namespace hearth::papers
