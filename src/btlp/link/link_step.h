// The link, with the whole program in view (main.cpp says how). Each returns an exit status.
#pragma once

#include <string>
#include <vector>

namespace hearth::btlp {

int link_step(const std::vector<std::string>& arguments);
/// --analyse MODE whole|part OUT FILE...
int analyse_files(const std::vector<std::string>& arguments);

}  // namespace hearth::btlp
