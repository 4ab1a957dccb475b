// Finds this process's CPU cgroups and reads their limits. The rules for paths stand in quota.h.
#include "topology/quota.h"

#include <algorithm>

#include "topology/text.h"

namespace hearth::topology {
namespace {

struct Mount {
  std::string root;   // the part of the hierarchy that is mounted
  std::string point;  // where
};

struct Hierarchy {
  bool present = false;
  bool mounted = false;
  std::string path;  // of this process, from /proc/self/cgroup
  Mount mount;
};

struct Hierarchies {
  Hierarchy v1;  // the one with the cpu controller
  Hierarchy v2;
};

// Takes the next line off `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool list_has(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    if (list.substr(0, end) == item) return true;
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return false;
}

// mountinfo writes blank space and backslashes as \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool goes_up(std::string_view path) {
  return path == "/.." || path.substr(0, 4) == "/../" || path.find("/../") != std::string_view::npos ||
         (path.size() >= 3 && path.substr(path.size() - 3) == "/..");
}

// The rest of `path` below `root`; false when it is not below it.
bool below(std::string_view path, std::string_view root, std::string_view& rest) {
  if (root == "/") {
    rest = path == "/" ? std::string_view() : path;
    return !goes_up(path);
  }
  if (path.substr(0, root.size()) != root) return false;
  rest = path.substr(root.size());
  return (rest.empty() || rest.front() == '/') && !goes_up(rest);
}

void offer_mount(Hierarchy& hierarchy, Mount mount) {
  if (!hierarchy.present) return;
  // A mount through which our own group is visible beats one that shows another subtree; among those, the one
  // that shows most (the shortest root) reaches the most groups above us.
  std::string_view rest;
  const bool sees_us = below(hierarchy.path, mount.root, rest);
  if (hierarchy.mounted) {
    const bool had_us = below(hierarchy.path, hierarchy.mount.root, rest);
    if (had_us && (!sees_us || mount.root.size() >= hierarchy.mount.root.size())) return;
    if (!had_us && !sees_us) return;
  }
  hierarchy.mounted = true;
  hierarchy.mount = std::move(mount);
}

Hierarchies find_hierarchies(const SystemRoot& root) {
  Hierarchies found;
  std::string text;
  if (!root.read("/proc/self/cgroup", text)) return found;
  for (std::string_view left = text; !left.empty();) {
    // hierarchy-id:controllers:path
    const std::string_view line = next_line(left);
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (path.empty() || path.front() != '/') continue;
    Hierarchy* which = nullptr;
    if (line.substr(0, first) == "0" && controllers.empty()) which = &found.v2;
    if (list_has(controllers, "cpu")) which = &found.v1;
    if (which == nullptr) continue;
    which->present = true;
    which->path = std::string(path);
  }
  if (!found.v1.present && !found.v2.present) return found;

  if (!root.read("/proc/self/mountinfo", text)) return found;
  for (std::string_view left = text; !left.empty();) {
    // id parent major:minor root point options [optional...] - type source super-options
    const std::string_view line = next_line(left);
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    Scanner after(line.substr(dash + 3));
    const std::string_view type = after.until(" ");
    const bool is_v2 = type == "cgroup2";
    if (!is_v2 && type != "cgroup") continue;
    after.take(' ');
    after.until(" ");
    after.take(' ');
    const std::string_view options = after.rest();
    if (!is_v2 && !list_has(options, "cpu")) continue;
    Scanner before(line.substr(0, dash));
    std::string_view fields[5];
    for (std::string_view& field : fields) {
      field = before.until(" ");
      before.take(' ');
    }
    offer_mount(is_v2 ? found.v2 : found.v1, {unescaped(fields[3]), unescaped(fields[4])});
  }
  return found;
}

// Calls visit(folder) for the process's group and every one above it, as far as the mount reaches.
template <class Visit>
void climb(const Hierarchy& hierarchy, Visit&& visit) {
  if (!hierarchy.mounted) return;
  std::string_view rest;
  if (!below(hierarchy.path, hierarchy.mount.root, rest)) rest = {};
  while (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  std::string folder = hierarchy.mount.point;
  while (!folder.empty() && folder.back() == '/') folder.pop_back();
  const std::size_t top = folder.size();
  folder += rest;
  for (;;) {
    visit(folder);
    if (folder.size() <= top) return;
    folder.resize(std::max(top, folder.rfind('/')));
  }
}

// Keeps `quota` if it is tighter than `best`. Compared as fractions, so 50000/100000 and 5000/10000 are equal
// and the group nearer to the process is the one that is named.
void tighten(CpuQuota& best, std::int64_t quota_us, std::int64_t period_us, std::string file) {
  if (quota_us <= 0 || period_us <= 0) return;
  if (best.limited()) {
    const auto left = static_cast<__int128>(quota_us) * best.period_us;
    const auto right = static_cast<__int128>(best.quota_us) * period_us;
    if (left >= right) return;
  }
  best.quota_us = quota_us;
  best.period_us = period_us;
  best.file = std::move(file);
}

}  // namespace

unsigned CpuQuota::whole_cpus() const {
  if (!limited()) return 0;
  const std::int64_t cpus = (quota_us - 1) / period_us + 1;
  return cpus > static_cast<std::int64_t>(CpuMask::kMaxCpu) ? CpuMask::kMaxCpu : static_cast<unsigned>(cpus);
}

CpuQuota read_cpu_quota(const SystemRoot& root) {
  CpuQuota best;
  const Hierarchies found = find_hierarchies(root);
  climb(found.v1, [&](const std::string& folder) {
    std::int64_t quota = 0;
    std::int64_t period = 0;
    std::string file = folder + "/cpu.cfs_quota_us";
    if (root.read_number(file.c_str(), quota) && quota > 0 &&
        root.read_number((folder + "/cpu.cfs_period_us").c_str(), period)) {
      tighten(best, quota, period, std::move(file));
    }
  });
  climb(found.v2, [&](const std::string& folder) {
    // "max 100000" or "150000 100000"
    std::string file = folder + "/cpu.max";
    std::string text;
    if (!root.read_line(file.c_str(), text)) return;
    Scanner scan(text);
    std::int64_t quota = 0;
    std::int64_t period = 100000;  // the kernel's default, should the second number be missing
    if (!scan.number(quota, INT64_MAX)) return;
    scan.skip_space();
    if (!scan.at_end() && !scan.number(period, INT64_MAX)) return;
    tighten(best, quota, period, std::move(file));
  });
  return best;
}

std::vector<std::string> cpu_cgroup_folders(const SystemRoot& root) {
  std::vector<std::string> folders;
  const Hierarchies found = find_hierarchies(root);
  const auto keep = [&](const std::string& folder) { folders.push_back(folder.empty() ? "/" : folder); };
  climb(found.v1, keep);
  climb(found.v2, keep);
  return folders;
}

}  // namespace hearth::topology
