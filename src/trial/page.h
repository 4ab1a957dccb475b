// A result as one HTML page: no script, no network, everything in it. Pure.
#pragma once

#include <string>

#include "trial/result.h"

namespace hearth::trial {

std::string page_of(const Result& result);

}  // namespace hearth::trial
