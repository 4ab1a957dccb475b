// All that the report knows of a run, but the timeline, as JSON: what `hearth report --json` prints and the page shows.
// docs/reference/report-data.md describes it. Pure.
#pragma once

#include <string>

#include "report/first_screen.h"
#include "report/timeline.h"

namespace hearth::report {

/// What the report is made from.
struct Subject {
  Run run;
  Figures figures;
  Locality locality;
  Advice advice;
  FirstScreen screen;
};

/// Empty, or what is wrong with the file. `advice`: of the simulator; null: by the rules.
std::string read_subject(const std::string& path, Subject& out, const Advice* advice = nullptr);

/// One object, on one line. `timeline`: what the page says of it; null: nothing.
/// `other`: a run that it is compared with; null: none is.
std::string data_json(const Subject& subject, const Timeline* timeline = nullptr, const Subject* other = nullptr);

}  // namespace hearth::report
