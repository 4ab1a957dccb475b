// See runtimes.h.
#include "trial/runtimes.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "trial/process.h"

namespace hearth::trial {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSonames[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
constexpr std::uintmax_t kMostBytes = 256u << 20;
constexpr int kMostDepth = 6;  // of folders in a wheel

std::string contents(const std::string& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error || size > kMostBytes) return {};
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The note of the linker: sizes of name and description, type 3, "GNU".
std::string build_id(const std::string& bytes) {
  static constexpr std::string_view kNote("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const std::size_t at = bytes.find(kNote);
  if (at == std::string::npos || at + kNote.size() + 20 > bytes.size()) return "none";
  std::string out;
  for (std::size_t i = 0; i < 8; ++i)
    out += fmt::format("{:02x}", static_cast<unsigned char>(bytes[at + kNote.size() + i]));
  return out;
}

bool is_name_of_one(const std::string& name) {
  return name.find(".so") != std::string::npos && !name.ends_with(".py") &&
         (name.starts_with("libgomp.so") || name.starts_with("libgomp-") || name.starts_with("libomp.so") ||
          name.starts_with("libomp-") || name.starts_with("libomp5.so") || name.starts_with("libiomp5"));
}

// "19" of libomp-19.so.5 or of /usr/lib/llvm-19/lib.
std::string version_in(const std::string& path) {
  for (const char* before : {"libomp-", "llvm-", "llvm"}) {
    const std::size_t at = path.find(before);
    if (at == std::string::npos) continue;
    const std::size_t digits = at + std::string_view(before).size();
    const std::size_t end = path.find_first_not_of("0123456789", digits);
    if (end > digits && end != std::string::npos) return path.substr(digits, end - digits);
  }
  return {};
}

void add_file(const std::string& path, std::vector<Runtime>& found) {
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  if (error || std::any_of(found.begin(), found.end(), [&](const Runtime& one) { return one.file == real; })) return;
  Runtime runtime = look_at(real);
  if (runtime.kind.empty() || runtime.kind == "hearth") return;
  // A copy of the same build says nothing new.
  if (runtime.build != "none" &&
      std::any_of(found.begin(), found.end(), [&](const Runtime& one) { return one.build == runtime.build; }))
    return;
  runtime.name = runtime.kind;
  if (runtime.kind == "libomp" && !version_in(real).empty()) runtime.name += "-" + version_in(real);
  const std::string base = runtime.name;
  for (int i = 2; std::any_of(found.begin(), found.end(), [&](const Runtime& one) { return one.name == runtime.name; });
       ++i)
    runtime.name = fmt::format("{} {}", base, i);
  found.push_back(std::move(runtime));
}

std::vector<std::string> listed_by_ldconfig() {
  std::vector<std::string> out;
  const char* command = access("/sbin/ldconfig", X_OK) == 0 ? "/sbin/ldconfig" : "/usr/sbin/ldconfig";
  const Ended ended = run_process({command, "-p"}, {"LC_ALL=C"}, 10, [] { return false; });
  std::size_t at = 0;
  while ((at = ended.output.find(" => ", at)) != std::string::npos) {
    at += 4;
    const std::string path = ended.output.substr(at, ended.output.find('\n', at) - at);
    if (is_name_of_one(fs::path(path).filename().string())) out.push_back(path);
  }
  return out;
}

void search(const fs::path& folder, int depth, std::vector<std::string>& out) {
  std::error_code error;
  std::vector<fs::path> names;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error))
    names.push_back(it->path());
  std::sort(names.begin(), names.end());
  for (const fs::path& path : names) {
    if (is_name_of_one(path.filename().string())) out.push_back(path.string());
    std::error_code ignored;
    if (depth > 0 && fs::is_directory(path, ignored) && !fs::is_symlink(path, ignored)) search(path, depth - 1, out);
  }
}

}  // namespace

Runtime look_at(const std::string& file) {
  Runtime out;
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return out;
  out.file = real.string();
  const std::string bytes = contents(out.file);
  if (bytes.compare(0, 4,
                    "\x7f"
                    "ELF") != 0)
    return out;
  const auto has = [&](std::string_view text) { return bytes.find(text) != std::string::npos; };
  out.build = build_id(bytes);
  if (has("HEARTH_POLICY") || has("libhearth"))
    out.kind = "hearth";
  else if (has("__kmpc_fork_call"))
    out.kind = real.filename().string().starts_with("libiomp5") || has("Intel(R) OMP") ? "libiomp5" : "libomp";
  else if (has("GOMP_parallel"))
    out.kind = "libgomp";
  return out;
}

std::vector<std::string> usual_folders() {
  std::vector<std::string> out = {"/usr/lib/x86_64-linux-gnu",
                                  "/usr/lib/aarch64-linux-gnu",
                                  "/usr/lib64",
                                  "/usr/lib",
                                  "/usr/local/lib64",
                                  "/usr/local/lib"};
  if (const char* conda = std::getenv("CONDA_PREFIX"); conda != nullptr) out.push_back(std::string(conda) + "/lib");
  for (const char* parent : {"/usr/lib", "/usr/lib64", "/opt/intel/oneapi/compiler"}) {
    std::error_code error;
    std::vector<std::string> below;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with("llvm") || std::string_view(parent).starts_with("/opt")) {
        below.push_back(it->path().string() + "/lib");
        below.push_back(it->path().string() + "/linux/compiler/lib/intel64_lin");
      }
    }
    std::sort(below.begin(), below.end());
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

std::vector<Runtime> find_rivals(const std::vector<std::string>& folders) {
  std::vector<Runtime> found;
  for (const std::string& path : listed_by_ldconfig()) add_file(path, found);
  for (const std::string& folder : folders) {
    std::vector<std::string> paths;
    search(folder, 0, paths);
    for (const std::string& path : paths) add_file(path, found);
  }
  std::sort(found.begin(), found.end(), [](const Runtime& a, const Runtime& b) { return a.name < b.name; });
  return found;
}

Named named_runtime(const std::string& text) {
  Named out;
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto legal = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) ||
           std::string_view("._+-").find(letter) != std::string_view::npos;
  };
  if (equals == std::string::npos || name.empty() || name.size() > 32 ||
      !std::all_of(name.begin(), name.end(), legal) || name.starts_with("hearth")) {
    out.problem = fmt::format(
        "--runtime \"{}\"; legal: NAME=PATH, the name of at most 32 letters, digits and . _ + -, not beginning with hearth",
        text);
    return out;
  }
  const std::string path = text.substr(equals + 1);
  std::vector<std::string> candidates = {path};
  std::error_code error;
  if (fs::is_directory(path, error)) {
    candidates.clear();
    search(path, kMostDepth, candidates);
  }
  for (const std::string& candidate : candidates) {
    out.runtime = look_at(candidate);
    if (!out.runtime.kind.empty()) break;
  }
  out.runtime.name = name;
  if (out.runtime.kind.empty())
    out.problem = fmt::format(
        "--runtime \"{}\": there is no OpenMP runtime; legal: a libgomp, libomp or libiomp5, or a folder below which there is one",
        text);
  return out;
}

bool link_names(const Runtime& runtime, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const char* soname : kSonames) {
    if (!error) fs::create_symlink(runtime.file, folder + "/" + soname, error);
  }
  return !error;
}

}  // namespace hearth::trial
