// The page: one HTML file that needs nothing else and may load nothing. Its parts (page/) are in the command.
#pragma once

#include <string>

#include "report/data.h"

namespace hearth::report {

std::string page_of(const Subject& subject);

}  // namespace hearth::report
