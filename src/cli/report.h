// `hearth report`: what happened in a recorded run, as one page for a browser, or its first screen as text.
#pragma once

#include <string>

namespace hearth::cli {

struct ReportRequest {
  std::string file = {};
  std::string other = {};   // another recording to compare it with; empty: none
  std::string output = {};  // the page; empty: none, or the recording's name and .html if nothing else is asked for
  bool text = false;
  bool json = false;
  std::string machine = {};  // a model on which advice is simulated; empty: none is
};
/// Whether nothing but a report would be written over; said if not. True for an empty path.
bool may_write_page(const std::string& path);
/// The exit status; what is wrong has been said.
int report_main(const ReportRequest& request);

}  // namespace hearth::cli
