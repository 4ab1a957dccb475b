// See verify.h.
#include "cli/verify.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/rank.h"

namespace hearth::cli {
namespace {

struct Served {
  std::uint64_t processes = 0;
  std::uint64_t regions = 0;
  std::uint64_t tasks = 0;
  std::uint64_t plans = 0;  // that moved threads or pages to each other
  std::uint64_t threads_moved = 0;
  std::uint64_t pages_moved = 0;
  std::set<std::string> foreign;
  std::set<std::string> mapped;
};

Served read_report(const std::string& path) {
  Served served;
  std::ifstream lines(path);
  std::string line;
  while (std::getline(lines, line)) {
    const Json item = Json::parse(line);
    if (!item.is_object()) {
      say("a process left a line that cannot be read in the verification file: {}", line);
      continue;
    }
    ++served.processes;
    served.regions += item.get("regions").natural();
    served.tasks += item.get("tasks").natural();
    const Json moves = item.get("moves");
    served.plans += moves.get("plans").natural();
    served.threads_moved += moves.get("threads").natural();
    served.pages_moved += moves.get("pages").natural();
    for (const Json& path_of : item.get("foreign").elements()) served.foreign.insert(path_of.text());
    for (const Json& path_of : item.get("mapped").elements()) served.mapped.insert(path_of.text());
  }
  return served;
}

bool report_served(const Served& served, const Program& program, const std::string& json_file, bool off) {
  say("{} and {} served by Hearth in {}.", counted(served.regions, "parallel region"), counted(served.tasks, "task"),
      counted(served.processes, "process", "processes"));
  if (served.threads_moved + served.pages_moved != 0)
    say("{} and {} were moved to each other, by {} that followed hints or load and by calls of the program.",
        counted(served.threads_moved, "thread"), counted(served.pages_moved, "page"), counted(served.plans, "plan"));
  bool good = true;
  if (off) {
    say("HEARTH=off: the program kept the runtime it came with.");
    good = false;
  } else if (served.processes == 0) {
    const std::string reason = explain(program);
    say("verification failed: Hearth was not loaded. {}",
        !reason.empty()
            ? reason
            : "Either no process loaded an OpenMP runtime, or none ended through exit(): a program that aborts "
              "leaves no report.");
    good = false;
  }
  for (const std::string& path : served.foreign) {
    say("verification failed: another OpenMP runtime served the program: {}", path);
    good = false;
  }
  for (const std::string& path : served.mapped) say("mapped but not used: {}", path);
  if (!json_file.empty()) {
    Json out;
    out["regions"] = served.regions;
    out["tasks"] = served.tasks;
    out["moves"]["plans"] = served.plans;
    out["moves"]["threads"] = served.threads_moved;
    out["moves"]["pages"] = served.pages_moved;
    out["foreign"] = Json::array(served.foreign);
    out["mapped"] = Json::array(served.mapped);
    out["processes"] = served.processes;
    if (const std::string rank = job_rank(); !rank.empty()) out["rank"] = std::strtoull(rank.c_str(), nullptr, 10);
    out["ok"] = good;
    good = write_file(json_file, out.dump(2) + "\n") && good;
  }
  return good;
}

}  // namespace

ServedReport::~ServedReport() { remove(); }

bool ServedReport::begin() {
  const char* folder = std::getenv("TMPDIR");
  path_ = fmt::format("{}/hearth-verify-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
  const int fd = mkostemp(path_.data(), O_CLOEXEC);
  if (fd < 0) {
    say("{}: {}", path_, std::strerror(errno));
    path_.clear();
    return false;
  }
  ::close(fd);
  setenv("HEARTH_VERIFY_FILE", path_.c_str(), 1);
  return true;
}

bool ServedReport::tell(const Program& program, const std::string& json_file, bool off) const {
  return report_served(read_report(path_), program, json_file, off);
}

void ServedReport::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace hearth::cli
