#include "base/code_place.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <elf.h>
#include <link.h>

#include "base/file.h"

namespace hearth {
namespace {

struct Search {
  std::uintptr_t address;
  CodePlace& place;
  bool found;
};

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && address - object.dlpi_addr - segment.p_vaddr < segment.p_memsz) return true;
  }
  return false;
}

// Notes are padded to four bytes, name and contents each.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

// Empty: the segment has no build-id.
void read_build_id(const char* note, std::size_t bytes, char* build, std::size_t room) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, note, sizeof head);
    const std::size_t name = padded(head.n_namesz), all = sizeof head + name + padded(head.n_descsz);
    if (all > bytes) return;
    const char* const contents = note + sizeof head + name;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(note + sizeof head, "GNU", 4) == 0) {
      for (std::size_t i = 0; i < head.n_descsz && 2 * i + 2 < room && i < 32; ++i)
        std::snprintf(build + 2 * i, 3, "%02x", static_cast<unsigned>(static_cast<unsigned char>(contents[i])));
      return;
    }
    note += all;
    bytes -= all;
  }
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!holds(*object, search.address)) return 0;
  search.found = true;
  CodePlace& place = search.place;
  place.offset = search.address - object->dlpi_addr;
  // The program's own name is empty here.
  const char* const name = object->dlpi_name[0] != '\0' ? object->dlpi_name : "/proc/self/exe";
  if (std::strlen(name) < sizeof place.module) std::strcpy(place.module, name);
  for (int i = 0; i < object->dlpi_phnum && place.build[0] == '\0'; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE)
      read_build_id(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz, place.build,
                    sizeof place.build);
  }
  return 1;
}

}  // namespace

bool find_code(const void* address, CodePlace& place) {
  place.module[0] = place.build[0] = '\0';
  Search search{reinterpret_cast<std::uintptr_t>(address), place, false};
  dl_iterate_phdr(visit, &search);
  // Beyond the loader's lock, since this asks the file system.
  char real[PATH_MAX];
  if (!search.found || place.module[0] == '\0' || realpath(place.module, real) == nullptr) return false;
  std::strcpy(place.module, real);
  if (place.build[0] != '\0') return true;
  struct stat about{};
  if (!file_status(real, about)) return false;
  std::snprintf(place.build, sizeof place.build, "%" PRIu64 "-%" PRId64 ".%ld", static_cast<std::uint64_t>(about.st_size),
                static_cast<std::int64_t>(about.st_mtim.tv_sec), about.st_mtim.tv_nsec);
  return true;
}

}  // namespace hearth
