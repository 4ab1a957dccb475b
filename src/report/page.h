// The page: one HTML file that needs nothing else and may load nothing. Its parts (page/) are in the command.
#pragma once

#include <string>

#include "report/data.h"

namespace hearth::report {

/// Stands near the beginning of every page.
inline constexpr const char* kPageMark = "<meta name=\"generator\" content=\"Hearth report\">";

/// `other`: a run that it is compared with; null: none is.
std::string page_of(const Subject& subject, const Subject* other);

}  // namespace hearth::report
