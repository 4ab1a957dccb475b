// omp_* calls about time, pausing, the tool and the display of the environment. Any thread of the program.
#include <climits>
#include <cstdint>
#include <ctime>

#include "abi/export.h"
#include "abi/fortran.h"
#include "runtime/binding/places.h"
#include "runtime/tools/events.h"
#include "runtime/process/startup.h"
#include "runtime/settings/settings.h"
#include "runtime/state/thread.h"

using hearth::abi::narrowed;
using hearth::rt::Thread;

namespace {

double seconds(const timespec& t) {
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return seconds(t);
}

double tick() {
  timespec t;
  clock_getres(CLOCK_MONOTONIC, &t);
  return seconds(t);
}

// The host under the numbers that compilers' headers and older releases give it; there is no other device.
bool is_host(int device) { return device == 0 || device == -1 || device == -10; }

// omp_pause_resource_t: soft and hard give the same back, since Hearth keeps nothing of the program's; 3 also
// stops the tool.
int pause(int kind) {
  if (kind < 1 || kind > 3) return 1;
  return hearth::rt::pause_resources(Thread::current()) ? 0 : 1;
}

int pause_device(int kind, int device) { return is_host(device) ? pause(kind) : 1; }

int control_tool(int command, int modifier, void* arg) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  return hearth::rt::events::control_tool(self, command, modifier, arg);
}

void display_environment(bool verbose) {
  hearth::rt::initialize();
  hearth::rt::display_env(verbose, hearth::rt::display_facts());
}

}  // namespace

HEARTH_EXPORT double omp_get_wtime() { return now(); }
HEARTH_FORTRAN(double, omp_get_wtime);
HEARTH_EXPORT double omp_get_wtick() { return tick(); }
HEARTH_FORTRAN(double, omp_get_wtick);

HEARTH_EXPORT int omp_pause_resource(int kind, int device) { return pause_device(kind, device); }
HEARTH_EXPORT int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return pause_device(*kind, *device);
}
HEARTH_EXPORT int omp_pause_resource_all(int kind) { return pause(kind); }
HEARTH_EXPORT int omp_pause_resource_all_(const std::int32_t* kind) { return pause(*kind); }
HEARTH_EXPORT int __kmpc_pause_resource(int kind) { return pause(kind); }

HEARTH_EXPORT int omp_control_tool(int command, int modifier, void* arg) {
  return control_tool(command, modifier, arg);
}
HEARTH_EXPORT int omp_control_tool_(const std::int32_t* command, const std::int32_t* modifier, void* arg) {
  return control_tool(*command, *modifier, arg);
}
HEARTH_EXPORT int omp_control_tool_8_(const std::int64_t* command, const std::int64_t* modifier, void* arg) {
  return control_tool(narrowed(*command), narrowed(*modifier), arg);
}

HEARTH_EXPORT void omp_display_env(int verbose) { display_environment(verbose != 0); }
HEARTH_EXPORT void omp_display_env_(const std::int32_t* verbose) { display_environment(*verbose != 0); }
HEARTH_EXPORT void omp_display_env_8_(const std::int64_t* verbose) { display_environment(*verbose != 0); }
