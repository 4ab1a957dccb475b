// `hearth learned`: what runs have learned, in words; and forgetting it.
#pragma once

#include <string>

namespace hearth::cli {

struct LearnedRequest {
  std::string file;  // empty: the one in the user's cache folder
  bool json = false;
  bool forget = false;
  std::string pattern;  // only entries whose place has a part that matches; empty: all
};
/// Each failure is said in one line.
int learned_main(const LearnedRequest& request);

}  // namespace hearth::cli
