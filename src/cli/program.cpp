// Reads ELF headers by hand: a handful of fields, checked against the file's size, of a file that may be
// anything.
#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace hearth::cli {
namespace {

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_NONE;
#endif

/// A whole file, mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status{};
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      void* address = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (address != MAP_FAILED)
        data_ = {static_cast<const char*>(address), static_cast<std::size_t>(status.st_size)};
    }
    ::close(fd);
  }
  ~MappedFile() {
    if (!data_.empty()) munmap(const_cast<char*>(data_.data()), data_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return data_; }

  /// A copy of the T at an offset; all zero when the file ends before.
  template <typename T>
  T at(std::uint64_t offset) const {
    T value{};
    if (offset <= data_.size() && data_.size() - offset >= sizeof(T))
      std::memcpy(&value, data_.data() + offset, sizeof(T));
    return value;
  }

  /// The zero-terminated string at an offset.
  std::string_view string_at(std::uint64_t offset) const {
    if (offset >= data_.size()) return {};
    const std::string_view rest = data_.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string_view data_;
};

constexpr std::string_view kEntryPoints[] = {"GOMP_parallel", "__kmpc_fork_call"};
// Of allocators that people link into programs under names of their own: jemalloc (also Rust's and C++'s),
// tcmalloc, mimalloc, rpmalloc.
constexpr std::string_view kAllocators[] = {"je_malloc", "_rjem_malloc", "tc_malloc", "mi_malloc",
                                            "rpmalloc"};
// What the code of a sanitized program calls first; only those sanitizers that bring a malloc of their own.
constexpr std::string_view kSanitizers[] = {"__asan_init", "__hwasan_init", "__lsan_init", "__msan_init",
                                            "__tsan_init"};

/// The first of these names that the file's symbol tables define; with `or_needed` also one that a library is to give.
template <std::size_t N>
std::string find_symbol(const MappedFile& file, const Elf64_Ehdr& header, const std::string_view (&wanted)[N],
                        bool or_needed = false) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = file.at<Elf64_Shdr>(header.e_shoff + std::uint64_t{i} * header.e_shentsize);
    if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
        section.sh_entsize != sizeof(Elf64_Sym))
      continue;
    const auto names =
        file.at<Elf64_Shdr>(header.e_shoff + std::uint64_t{section.sh_link} * header.e_shentsize);
    const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
    for (std::uint64_t j = 0; j < count; ++j) {
      const std::uint64_t offset = section.sh_offset + j * sizeof(Elf64_Sym);
      if (offset + sizeof(Elf64_Sym) > file.text().size()) break;
      const auto symbol = file.at<Elf64_Sym>(offset);
      if (symbol.st_shndx == SHN_UNDEF && !or_needed) continue;
      const std::string_view name = file.string_at(names.sh_offset + symbol.st_name);
      if (std::find(std::begin(wanted), std::end(wanted), name) != std::end(wanted)) return std::string(name);
    }
  }
  return {};
}

void inspect_elf(const MappedFile& file, Program& program) {
  using Problem = Program::Problem;
  const auto header = file.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || (kMachine != EM_NONE && header.e_machine != kMachine)) {
    program.problem = Problem::other_machine;
    return;
  }
  std::string_view interpreter;
  bool is_loader_itself = header.e_type == ET_DYN;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header.e_phoff + std::uint64_t{i} * header.e_phentsize);
    if (segment.p_type == PT_INTERP) interpreter = file.string_at(segment.p_offset);
  }
  program.own_runtime = find_symbol(file, header, kEntryPoints);
  program.own_allocator = find_symbol(file, header, kAllocators);
  program.sanitizer = find_symbol(file, header, kSanitizers, true);
  if (interpreter.empty()) {
    // ld.so called as a program has no interpreter either, but is a loader.
    is_loader_itself = is_loader_itself && program.path.find("/ld-") != std::string::npos;
    if (!is_loader_itself) program.problem = Problem::static_linked;
  } else if (interpreter.find("ld-musl") != std::string_view::npos) {
    program.problem = Problem::other_libc;
  }
}

bool gains_privileges(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != getegid())
    return true;
  return geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

/// Where execvp() would find it; empty when nowhere. `denied`: something of that name was there but may not
/// be run.
std::string find_program(const std::string& name, bool& denied) {
  const auto runnable = [&](const std::string& path) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return false;
    if (S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0) return true;
    denied = true;
    return false;
  };
  denied = false;
  if (name.find('/') != std::string::npos) return runnable(name) ? name : std::string();
  const char* variable = std::getenv("PATH");
  std::stringstream folders(variable != nullptr ? variable : "/bin:/usr/bin");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string path = (folder.empty() ? std::string(".") : folder) + "/" + name;
    if (runnable(path)) return path;
  }
  return {};
}

/// "heat.c: not a program: a C source; ...", or nothing.
std::string explain_source(const std::string& path) {
  struct Language {
    std::string_view ending, name, compiler;
  };
  constexpr Language kLanguages[] = {{".c", "a C source", "gcc"},          {".cpp", "a C++ source", "g++"},
                                     {".cc", "a C++ source", "g++"},       {".cxx", "a C++ source", "g++"},
                                     {".C", "a C++ source", "g++"},        {".f90", "a Fortran source", "gfortran"},
                                     {".F90", "a Fortran source", "gfortran"}, {".f", "a Fortran source", "gfortran"}};
  if (access(path.c_str(), F_OK) != 0) return {};
  for (const auto& [ending, name, compiler] : kLanguages) {
    if (!path.ends_with(ending)) continue;
    return fmt::format("{}: not a program: {}; compile it first: {} -fopenmp -O2 {} -o {}", path, name, compiler, path,
                       path.substr(0, path.size() - ending.size()));
  }
  return {};
}

/// Words without a slash are looked up in PATH, where a file of this folder mostly is not.
std::string explain_missing(const std::string& path) {
  if (const std::string source = explain_source(path); !source.empty()) return source;
  if (path.find('/') == std::string::npos && access(path.c_str(), X_OK) == 0)
    return fmt::format("{}: no such program in PATH; did you mean ./{}?", path, path);
  return fmt::format("{}: no such program.", path);
}

}  // namespace

Program inspect_program(const std::string& name) {
  using Problem = Program::Problem;
  Program program;
  program.asked = name;
  std::string next = name;
  constexpr int kMostInterpreters = 5;  // the kernel's own limit on scripts run by scripts
  for (int depth = 0; depth < kMostInterpreters; ++depth) {
    bool denied = false;
    program.path = find_program(next, denied);
    if (program.path.empty()) {
      program.path = next;
      program.problem = denied ? Problem::not_executable : Problem::not_found;
      return program;
    }
    if (gains_privileges(program.path)) {
      program.problem = Problem::privileged;
      return program;
    }
    const MappedFile file(program.path);
    const std::string_view text = file.text();
    if (text.substr(0, 4) == std::string_view(ELFMAG, SELFMAG)) {
      inspect_elf(file, program);
      return program;
    }
    if (text.substr(0, 2) != "#!") {
      next = "/bin/sh";  // execvp() hands files of unknown format to the shell
      continue;
    }
    std::istringstream line{std::string(text.substr(2, text.find('\n') - 2))};
    std::string interpreter;
    std::string argument;
    line >> interpreter;
    if (interpreter.size() >= 4 && interpreter.compare(interpreter.size() - 4, 4, "/env") == 0) {
      // "#!/usr/bin/env -S VAR=x python3 -u": the first word that is neither an option nor an assignment.
      while (line >> argument && (argument[0] == '-' || argument.find('=') != std::string::npos)) {
      }
      if (!argument.empty()) interpreter = argument;
    }
    if (interpreter.empty()) return program;
    next = interpreter;
  }
  return program;
}

std::string explain(const Program& program) {
  using Problem = Program::Problem;
  const std::string& path = program.path;
  switch (program.problem) {
    case Problem::none: break;
    case Problem::not_found: return explain_missing(path);
    case Problem::not_executable:
      if (const std::string source = explain_source(path); !source.empty()) return source;
      return fmt::format("{}: may not be executed.", path);
    case Problem::static_linked:
      return fmt::format(
          "{} is linked statically, so its OpenMP runtime cannot be replaced. Link it dynamically (without -static) to "
          "run it on Hearth.",
          path);
    case Problem::other_libc:
      return fmt::format(
          "{} uses a C library other than glibc. Its loader has no audit interface, so Hearth cannot serve it.",
          path);
    case Problem::other_machine:
      return fmt::format(
          "{} is built for another processor than this Hearth, which cannot serve it.", path);
    case Problem::privileged:
      return fmt::format(
          "{} runs with more rights than yours (setuid, setgid or file capabilities). For such programs the loader "
          "ignores LD_AUDIT and LD_PRELOAD, and Hearth its variables. Run a copy without those rights.",
          path);
  }
  if (!program.own_runtime.empty()) {
    return fmt::format(
        "{} contains its own OpenMP runtime (it defines {}), which cannot be replaced from outside. Link it with the "
        "shared runtime to run it on Hearth.",
        path, program.own_runtime);
  }
  return {};
}

}  // namespace hearth::cli
