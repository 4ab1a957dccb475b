// The audit library of `hearth run`: the dynamic loader asks it, object by object, which file to load, and it
// answers with libhearth.so wherever a stock OpenMP runtime is wanted: by soname, by absolute path, by
// dlopen, or as one of the renamed copies that Python wheels carry (libgomp-e985bcbb.so.1.0.0). The loader
// maps one file once, so whatever number of copies a program brings, one runtime results.
//
// It runs inside every process that inherits LD_AUDIT, in a namespace of its own and before libc is ready. So
// it needs nothing, not even libc (which would be loaded a second time), allocates nothing, and asks for no
// other audit event: since glibc 2.35 the loader then leaves the PLT as fast as without it. The target is set
// once by the constructor, before the loader's first question, and constant from then on; the table of names
// grows under the loader's lock.
//
// HEARTH_AUDIT_TARGET names libhearth.so. Without it, or with HEARTH=off, the library asks to be unloaded
// again.
#include <link.h>
#include <stdint.h>

enum {
  STAND_INS = 32,  // as many as src/abi builds
  MOST_NAME = 256  // bytes: NAME_MAX of Linux, and the end
};

static const char* target;

static int starts_with(const char* text, const char* prefix) {
  while (*prefix != '\0') {
    if (*text++ != *prefix++) return 0;
  }
  return 1;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static int same_word(const char* text, const char* word) {
  while (*word != '\0' && lower(*text) == *word) {
    ++text;
    ++word;
  }
  return *text == '\0' && *word == '\0';
}

static int same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

// Is this the file name of an OpenMP runtime? libgomp, libomp and libiomp5, perhaps with the hash of a wheel,
// then ".so". Not their relatives: libgomp-plugin-nvptx.so.1, libomptarget.so, libompd.so, libompstub.so.
static int is_stock_runtime(const char* path) {
  static const char* const kStems[] = {"libgomp", "libomp", "libiomp5"};
  const char* name = path;
  for (const char* c = path; *c != '\0'; ++c) {
    if (*c == '/') name = c + 1;
  }
  for (unsigned i = 0; i < sizeof(kStems) / sizeof(kStems[0]); ++i) {
    if (!starts_with(name, kStems[i])) continue;
    const char* rest = name;
    for (const char* stem = kStems[i]; *stem != '\0'; ++stem) ++rest;
    if (*rest == '-') {
      const char* hash = ++rest;
      while ((*rest >= '0' && *rest <= '9') || (*rest >= 'a' && *rest <= 'f')) ++rest;
      if (rest - hash < 8) continue;  // auditwheel's hashes have eight digits; libomp-facade.so is somebody's own
    }
    if (starts_with(rest, ".so") && (rest[3] == '\0' || rest[3] == '.')) return 1;
  }
  return 0;
}

// The loader hands constructors the program's arguments and environment, also before libc is there to hold
// them.
__attribute__((constructor)) static void read_environment(int argc, char** argv, char** environment) {
  (void)argc;
  (void)argv;
  const char* found = 0;
  for (; environment != 0 && *environment != 0; ++environment) {
    if (starts_with(*environment, "HEARTH_AUDIT_TARGET=")) found = *environment + sizeof("HEARTH_AUDIT_TARGET=") - 1;
    if (starts_with(*environment, "HEARTH=")) {
      static const char* const kOff[] = {"off", "0", "false", "no", "disabled"};
      for (unsigned i = 0; i < sizeof(kOff) / sizeof(kOff[0]); ++i) {
        if (same_word(*environment + sizeof("HEARTH=") - 1, kOff[i])) return;
      }
    }
  }
  if (found == 0) return;
  // Copied: a program that overwrites its environment block must not redirect anybody elsewhere.
  static char copy[4096];
  unsigned length = 0;
  while (found[length] != '\0') {
    if (length + 1 >= sizeof(copy)) return;
    copy[length] = found[length];
    ++length;
  }
  if (length > 0) target = copy;
}

__attribute__((visibility("default"))) unsigned la_version(unsigned offered) {
  if (target == 0) return 0;  // the loader forgets us
  return offered < LAV_CURRENT ? offered : LAV_CURRENT;
}

// The k-th name's stand-in, beside the target: <folder>/names/<k>.so.
static const char* stand_in(unsigned k) {
  static char paths[STAND_INS][4200];
  char* out = paths[k];
  if (*out != '\0') return out;
  unsigned folder = 0;
  for (unsigned i = 0; target[i] != '\0'; ++i) {
    if (target[i] == '/') folder = i + 1;
  }
  for (unsigned i = 0; i < folder; ++i) *out++ = target[i];
  for (const char* c = "names/"; *c != '\0'; ++c) *out++ = *c;
  if (k >= 10) *out++ = (char)('0' + k / 10);
  *out++ = (char)('0' + k % 10);
  for (const char* c = ".so"; *c != '\0'; ++c) *out++ = *c;
  *out = '\0';
  return paths[k];
}

// The loader finds a mapped object by its soname, libgomp.so.1, and by the name under which it was first
// mapped. A name that was redirected to an object which is mapped already is not kept: the check of versions
// does not find it, and stops the process. So each other name has a stand-in: a file of its own without code,
// with all the version nodes, that needs libgomp.so.1.
//
// The answer depends on the name alone, never on what was asked before: a question need not end in a load
// (RTLD_NOLOAD, a dlopen that fails), and each namespace of dlmopen loads for itself. Only which stand-in a
// name has is decided by its first question. Called under the loader's lock. A name too many keeps its stock
// runtime, which --verify reports.
static const char* answer(const char* name) {
  static char known[STAND_INS][MOST_NAME];
  static unsigned names = 0;
  for (const char* c = name; *c != '\0'; ++c) {
    if (*c == '/') return target;  // dlopen of a path: versions are asked of bare names only
  }
  if (same_text(name, "libgomp.so.1")) return target;
  for (unsigned k = 0; k < names; ++k) {
    if (same_text(name, known[k])) return stand_in(k);
  }
  unsigned length = 0;
  while (name[length] != '\0') ++length;
  if (names == STAND_INS || length >= MOST_NAME) return name;
  for (unsigned i = 0; i < length; ++i) known[names][i] = name[i];
  return stand_in(names++);
}

__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t* cookie, unsigned flag) {
  (void)cookie;
  (void)flag;
  return is_stock_runtime(name) ? (char*)answer(name) : (char*)name;
}
