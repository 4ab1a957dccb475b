// `hearth report`: what happened in a recorded run, as one page for a browser, or its first screen as text.
#pragma once

#include <string>

namespace hearth::cli {

struct ReportRequest {
  std::string file;
  std::string output;  // the page; empty: none, or the recording's name and .html if nothing else is asked for
  bool text = false;
  bool json = false;
};
/// The exit status; what is wrong has been said.
int report_main(const ReportRequest& request);

}  // namespace hearth::cli
