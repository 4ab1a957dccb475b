#include "record/process_notes.h"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/tool_thread.h"
#include "record/writer.h"

namespace hearth::record {
namespace {

unsigned long long modules_seen = 0;

int note_module(dl_phdr_info* info, std::size_t, void*) {
  char self[PATH_MAX] = "";
  const char* path = info->dlpi_name;
  if (path == nullptr || path[0] == 0) {
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return 0;
    self[length] = 0;
    path = self;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
    note("module %llx %llx %llx %s", static_cast<unsigned long long>(info->dlpi_addr),
         static_cast<unsigned long long>(begin), static_cast<unsigned long long>(begin + part.p_memsz),
         Escaped(path).text);
  }
  modules_seen = info->dlpi_adds;
  return 0;
}

std::size_t read_file(const char* path, char* text, std::size_t room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t length = 0;
  for (ssize_t now = 1; now > 0 && length < room; length += now > 0 ? static_cast<std::size_t>(now) : 0)
    now = read(file, text + length, room - length);
  close(file);
  return length;
}

void note_nodes() {
  for (int node = 0; node < 1024; ++node) {
    char path[64];
    char cpus[4096];
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
    std::size_t length = read_file(path, cpus, sizeof cpus - 1);
    if (length == 0) {
      if (node > 64) return;  // numbers may have holes
      continue;
    }
    while (length > 0 && cpus[length - 1] == '\n') --length;
    cpus[length] = 0;
    note("node %d %s", node, cpus[0] == 0 ? "-" : cpus);
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d/distance", node);
    length = read_file(path, cpus, sizeof cpus - 1);
    while (length > 0 && (cpus[length - 1] == '\n' || cpus[length - 1] == ' ')) --length;
    cpus[length] = 0;
    if (length != 0) note("slit %d %s", node, cpus);
  }
}

}  // namespace

void note_clock() {
  timespec steady{};
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  clock_gettime(CLOCK_MONOTONIC, &steady);
  const std::uint64_t now = ticks();
  note("clock %llu %lld%09ld %lld%09ld", static_cast<unsigned long long>(now),
       static_cast<long long>(steady.tv_sec), steady.tv_nsec, static_cast<long long>(real.tv_sec),
       real.tv_nsec);
}

void note_modules() {
  const auto changed = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<bool*>(to) = info->dlpi_adds != modules_seen;
    return 1;
  };
  bool news = false;
  dl_iterate_phdr(changed, &news);
  if (news) dl_iterate_phdr(note_module, nullptr);
}

bool note_process(const char* runtime) {
  char command[2048];
  std::size_t length = read_file("/proc/self/cmdline", command, sizeof command);
  while (length > 0 && command[length - 1] == 0) --length;
  for (std::size_t i = 0; i < length; ++i)
    if (command[i] == 0) command[i] = ' ';
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const bool good = note("hearth-recording 4") &&
                    note("process %d %d", static_cast<int>(getpid()), static_cast<int>(getppid())) &&
                    note("runtime %s", Escaped(runtime).text) && note("host %s", Escaped(host).text) &&
                    note("command %s", Escaped(command, length).text);
  if (!good) {
    stop_recording("the recording cannot be begun", errno);
    return false;
  }
  note_clock();
  note_nodes();
  note_modules();
  return true;
}

Escaped::Escaped(const char* from, std::size_t length) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < length && n + 4 < sizeof text; ++i) {
    const auto c = static_cast<unsigned char>(from[i]);
    if (c > ' ' && c != '%' && c < 0x7f)
      text[n++] = static_cast<char>(c);
    else
      n += static_cast<std::size_t>(std::snprintf(text + n, 4, "%%%02x", c));
  }
  text[n] = 0;
}
Escaped::Escaped(const char* from) : Escaped(from, std::strlen(from)) {}

}  // namespace hearth::record
