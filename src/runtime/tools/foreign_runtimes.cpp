// Looks through the objects that the loader has mapped; see verify.h for the contract.
//
// Everything is read from memory that the loader keeps mapped as long as the object: the dynamic section, the
// symbol and string tables, the hash table and the relocations. dl_iterate_phdr() holds the loader's lock
// during each of its rounds; between them an object may go, so paths are copied and addresses are compared,
// never followed.
#include "runtime/tools/foreign_runtimes.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "base/log.h"
#include "runtime/settings/settings.h"

namespace hearth::rt {
namespace {

constexpr const char* kEntryPoints[] = {"GOMP_parallel", "__kmpc_fork_call"};
constexpr int kMostRuntimes = 16;  // more than one is already a mistake; beyond this many the rest is not named

struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
  const ElfW(Rela) * relocations[2] = {};  // DT_RELA and DT_JMPREL
  std::size_t relocation_count[2] = {};

  bool usable() const { return symbols != nullptr && strings != nullptr; }
};

/// glibc relocates these pointers in place, except in the vdso, where they stay offsets.
template <typename T>
const T* at(const dl_phdr_info& object, ElfW(Addr) address) {
  const ElfW(Addr) absolute = address < object.dlpi_addr ? object.dlpi_addr + address : address;
  return reinterpret_cast<const T*>(absolute);
}

DynamicTables read_tables(const dl_phdr_info& object) {
  DynamicTables tables;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + segment.p_vaddr);
    bool plt_has_addends = true;
    for (; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB: tables.symbols = at<ElfW(Sym)>(object, entry->d_un.d_ptr); break;
        case DT_STRTAB: tables.strings = at<char>(object, entry->d_un.d_ptr); break;
        case DT_GNU_HASH: tables.gnu_hash = at<std::uint32_t>(object, entry->d_un.d_ptr); break;
        case DT_HASH: tables.hash = at<std::uint32_t>(object, entry->d_un.d_ptr); break;
        case DT_RELA: tables.relocations[0] = at<ElfW(Rela)>(object, entry->d_un.d_ptr); break;
        case DT_RELASZ: tables.relocation_count[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: tables.relocations[1] = at<ElfW(Rela)>(object, entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: tables.relocation_count[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_PLTREL: plt_has_addends = entry->d_un.d_val == DT_RELA; break;
        default: break;
      }
    }
    if (!plt_has_addends) tables.relocation_count[1] = 0;
    break;
  }
  for (int i = 0; i < 2; ++i) {
    if (tables.relocations[i] == nullptr) tables.relocation_count[i] = 0;
  }
  return tables;
}

bool defines_by_gnu_hash(const DynamicTables& tables, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint32_t bucket_count = tables.gnu_hash[0];
  const std::uint32_t first_symbol = tables.gnu_hash[1];
  const std::uint32_t bloom_words = tables.gnu_hash[2];
  if (bucket_count == 0) return false;
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(tables.gnu_hash + 4);
  const auto* buckets = reinterpret_cast<const std::uint32_t*>(bloom + bloom_words);
  const std::uint32_t* chains = buckets + bucket_count;
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first_symbol) return false;
  while (true) {
    const std::uint32_t other = chains[index - first_symbol];
    const ElfW(Sym)& symbol = tables.symbols[index];
    if ((other | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
        std::strcmp(tables.strings + symbol.st_name, name) == 0) {
      return true;
    }
    if ((other & 1) != 0) return false;
    ++index;
  }
}

bool defines(const DynamicTables& tables, const char* name) {
  if (tables.gnu_hash != nullptr) return defines_by_gnu_hash(tables, name);
  if (tables.hash == nullptr) return false;
  const std::uint32_t count = tables.hash[1];
  for (std::uint32_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = tables.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF && std::strcmp(tables.strings + symbol.st_name, name) == 0) return true;
  }
  return false;
}

struct LoadedRange {
  ElfW(Addr) first = 0;
  ElfW(Addr) last = 0;  // one beyond

  bool contains(ElfW(Addr) address) const { return address >= first && address < last; }
};

LoadedRange range_of(const dl_phdr_info& object) {
  LoadedRange range;
  bool any = false;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const ElfW(Addr) first = object.dlpi_addr + segment.p_vaddr;
    const ElfW(Addr) last = first + segment.p_memsz;
    if (!any || first < range.first) range.first = first;
    if (!any || last > range.last) range.last = last;
    any = true;
  }
  return range;
}

struct Foreign {
  LoadedRange range;
  bool bound = false;
  char path[1024] = {};
};

struct FoundRuntimes {
  Foreign found[kMostRuntimes];
  int count = 0;
};

/// The stock runtimes' own names. Any other object that defines the entry points has them built in, for its
/// own use.
bool is_shared_runtime(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  return std::strncmp(name, "libgomp", 7) == 0 || std::strncmp(name, "libomp", 6) == 0 ||
         std::strncmp(name, "libiomp5", 8) == 0;
}

int find_runtime(dl_phdr_info* object, std::size_t, void* context) {
  auto& all = *static_cast<FoundRuntimes*>(context);
  const LoadedRange range = range_of(*object);
  if (range.contains(reinterpret_cast<ElfW(Addr)>(&verify_report))) return 0;  // that is us
  const DynamicTables tables = read_tables(*object);
  if (!tables.usable() || all.count == kMostRuntimes) return 0;
  bool any = false;
  for (const char* name : kEntryPoints) any = any || defines(tables, name);
  if (!any) return 0;
  Foreign& foreign = all.found[all.count++];
  foreign.range = range;
  if (object->dlpi_name != nullptr && object->dlpi_name[0] != '\0') {
    std::snprintf(foreign.path, sizeof(foreign.path), "%s", object->dlpi_name);
  } else {
    const ssize_t length = readlink("/proc/self/exe", foreign.path, sizeof(foreign.path) - 1);
    foreign.path[length > 0 ? length : 0] = '\0';
  }
  foreign.bound = !is_shared_runtime(foreign.path);
  return 0;
}

bool is_runtime_call(const char* name) {
  return std::strncmp(name, "GOMP_", 5) == 0 || std::strncmp(name, "__kmpc_", 7) == 0;
}

/// Where do this object's own calls go? A slot that was never bound (lazy binding) still points into the
/// object itself.
int find_bindings(dl_phdr_info* object, std::size_t, void* context) {
  auto& all = *static_cast<FoundRuntimes*>(context);
  const DynamicTables tables = read_tables(*object);
  if (!tables.usable()) return 0;
  const LoadedRange own = range_of(*object);
  for (int table = 0; table < 2; ++table) {
    for (std::size_t i = 0; i < tables.relocation_count[table]; ++i) {
      const ElfW(Rela)& relocation = tables.relocations[table][i];
#if defined(__x86_64__)
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
#elif defined(__aarch64__)
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_AARCH64_JUMP_SLOT && type != R_AARCH64_GLOB_DAT && type != R_AARCH64_ABS64) continue;
#endif
      const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
      if (!is_runtime_call(tables.strings + symbol.st_name)) continue;
      const auto slot = *reinterpret_cast<const ElfW(Addr)*>(object->dlpi_addr + relocation.r_offset);
      if (own.contains(slot)) continue;
      for (int f = 0; f < all.count; ++f) {
        if (all.found[f].range.contains(slot)) all.found[f].bound = true;
      }
    }
  }
  return 0;
}

/// Builds the line in a fixed buffer. What does not fit is left out whole, so that the line stays JSON.
class Line {
 public:
  void add(const char* text) { add_bytes(text, std::strlen(text)); }
  void add_number(std::uint64_t value) {
    char digits[24];
    add_bytes(digits, static_cast<std::size_t>(
                          std::snprintf(digits, sizeof(digits), "%llu", static_cast<unsigned long long>(value))));
  }
  void add_string(const char* text) {
    add("\"");
    for (const char* c = text; *c != '\0'; ++c) {
      const auto byte = static_cast<unsigned char>(*c);
      if (byte == '"' || byte == '\\') {
        const char escaped[2] = {'\\', *c};
        add_bytes(escaped, 2);
      } else if (byte < 0x20 || byte >= 0x7f) {
        // Paths may hold any bytes; Latin-1 escapes keep the line ASCII and valid whatever they are.
        char escaped[8];
        add_bytes(escaped, static_cast<std::size_t>(std::snprintf(escaped, sizeof(escaped), "\\u%04x", byte)));
      } else {
        add_bytes(c, 1);
      }
    }
    add("\"");
  }
  /// A comma unless the list is still empty; false when a path might not fit any more.
  bool begin_item(bool& first) {
    if (length_ + kLongestItem > sizeof(text_)) return false;
    if (!first) add(",");
    first = false;
    return true;
  }
  const char* text() const { return text_; }
  std::size_t length() const { return length_; }

 private:
  static constexpr std::size_t kLongestItem = 6 * 1024 + 64;  // a path with every byte escaped, and the line's end

  void add_bytes(const char* bytes, std::size_t count) {
    if (length_ + count > sizeof(text_)) return;
    std::memcpy(text_ + length_, bytes, count);
    length_ += count;
  }

  char text_[32 * 1024];
  std::size_t length_ = 0;
};

void find_foreign_runtimes(FoundRuntimes& all) {
  dl_iterate_phdr(find_runtime, &all);
  if (all.count > 0) dl_iterate_phdr(find_bindings, &all);
}

constinit std::atomic<bool> reported{false};

void append(const char* path, const Line& line) {
  const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, line.text(), line.length()) != static_cast<ssize_t>(line.length())) {
    warn("HEARTH_VERIFY_FILE=\"%s\": cannot be written (%m); the report lacks this process.", path);
  }
  if (fd >= 0) close(fd);
}

/// A process that has this library but never called it (its calls go to another runtime, say) reports as
/// well. The priority puts this behind the runtime's own end, which knows the counts.
[[gnu::destructor(101)]] void report_idle_process() {
  if (reported.load(std::memory_order_relaxed) || std::getenv("HEARTH_VERIFY_FILE") == nullptr) return;
  init_settings();
  verify_report({});
}

}  // namespace

void visit_foreign_runtimes(ForeignVisitor visit, void* context) {
  // Static: a program's first region may have little stack. Called by one thread at a time, see the header.
  static FoundRuntimes all;
  all.count = 0;
  find_foreign_runtimes(all);
  for (int i = 0; i < all.count; ++i) visit(context, all.found[i].path, all.found[i].bound);
}

void verify_report(const Served& served) {
  const char* file = settings().verify_file;
  if (file == nullptr || reported.exchange(true, std::memory_order_relaxed)) return;
  // Static, to spare the stack of whoever calls exit(); the process ends once.
  static FoundRuntimes all;
  static Line line;
  find_foreign_runtimes(all);

  char exe[1024];
  const ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
  exe[length > 0 ? length : 0] = '\0';
  line.add("{\"pid\":");
  line.add_number(static_cast<std::uint64_t>(getpid()));
  line.add(",\"exe\":");
  line.add_string(exe);
  line.add(",\"regions\":");
  line.add_number(served.regions);
  line.add(",\"tasks\":");
  line.add_number(served.tasks);
  line.add(",\"moves\":{\"plans\":");
  line.add_number(served.plans);
  line.add(",\"threads\":");
  line.add_number(served.threads_moved);
  line.add(",\"pages\":");
  line.add_number(served.pages_moved);
  line.add("}");
  for (const bool bound : {true, false}) {
    line.add(bound ? ",\"foreign\":[" : ",\"mapped\":[");
    bool first = true;
    for (int i = 0; i < all.count; ++i) {
      if (all.found[i].bound == bound && line.begin_item(first)) line.add_string(all.found[i].path);
    }
    line.add("]");
  }
  line.add("}\n");
  append(file, line);
}

}  // namespace hearth::rt
