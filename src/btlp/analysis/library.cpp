#include "btlp/analysis/library.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/TargetParser/Triple.h>

namespace hearth::btlp {
namespace {

constexpr const char* kSilentPrefixes[] = {
    "pthread_",
    "sem_",
    "mtx_",
    "cnd_",
    "thrd_",
    "tss_",
    "__cxa_",
    "_Unwind_",
    "__pthread",
    "__gxx_",
    "llvm.",
    // std::condition_variable, std::thread, std::terminate, exceptions, operator delete, atomic waits, chrono's clocks
    "_ZNSt18condition_variable",
    "_ZNSt6thread",
    "_ZSt9terminate",
    "_ZSt20__throw",
    "_ZSt2",
    "_ZSt1",
    "_ZdlPv",
    "_ZdaPv",
    "_ZNSt6chrono",
    "_ZNSt28__atomic_futex",
    "_ZNSt3__118condition_variable",
    "_ZNSt3__15mutex",
    "_ZNSt3__16thread",
    "_ZNSt3__16chrono",
    "_ZNSt3__119__shared",
    "_ZNSt3__114__shared",
    "_ZNSt3__115recursive",
    "_ZNSt3__111timed_mutex",
    "_ZNSt3__117__assoc_sub_state",
    "_ZNSt3__118__cxx_atomic",
    "_ZNSt3__123__cxx_atomic",
    "_ZNSt3__120__libcpp_atomic",
    "_ZNSt3__121__thread_local_data",
    "_ZNSt3__115__thread_struct",
    "_ZNSt3__14__fs",
    "_ZNKSt3__119__shared",
    "_ZSt18_Rb_tree",
    "_ZNSt13__future_base",
    "_ZNSt3__112__next_prime",
};

constexpr const char* kSilent[] = {"free",
                                   "cfree",
                                   "exit",
                                   "_exit",
                                   "abort",
                                   "sched_yield",
                                   "usleep",
                                   "sleep",
                                   "nanosleep",
                                   "clock_nanosleep",
                                   "sched_getcpu",
                                   "__assert_fail",
                                   "__stack_chk_fail",
                                   "close",
                                   "pause",
                                   "alarm",
                                   "getpid",
                                   "sysconf",
                                   "gettid"};
constexpr const char* kLibc[] = {"__errno_location",
                                 "__ctype_b_loc",
                                 "strerror",
                                 "getenv",
                                 "localtime",
                                 "gmtime",
                                 "ctime",
                                 "rand",
                                 "rand_r",
                                 "srand",
                                 "random",
                                 "drand48",
                                 "erand48",
                                 "strtok_r",
                                 "read",
                                 "write",
                                 "recv",
                                 "send",
                                 "poll",
                                 "select",
                                 "pipe",
                                 "pipe2",
                                 "clock_gettime",
                                 "gettimeofday",
                                 "time",
                                 "syscall",
                                 "open",
                                 "sigaction",
                                 "getrusage",
                                 "getopt_long",
                                 "getopt",
                                 "epoll_wait",
                                 "epoll_ctl",
                                 "accept",
                                 "bind",
                                 "fstat",
                                 "posix_memalign",
                                 "aligned_alloc",
                                 "eventfd",
                                 "mmap",
                                 "mmap64",
                                 "munmap",
                                 "madvise",
                                 "mprotect",
                                 "fcntl",
                                 "fcntl64",
                                 "ioctl",
                                 "listen",
                                 "socket",
                                 "socketpair",
                                 "connect",
                                 "shutdown",
                                 "setsockopt",
                                 "getsockopt",
                                 "getsockname",
                                 "recvfrom",
                                 "sendto",
                                 "sigemptyset",
                                 "sigfillset",
                                 "sigaddset",
                                 "sigdelset",
                                 "sigprocmask",
                                 "sigwait",
                                 "kill",
                                 "waitpid",
                                 "getrlimit",
                                 "setrlimit",
                                 "localtime_r",
                                 "gmtime_r",
                                 "strerror_r",
                                 "__xpg_strerror_r",
                                 "dup",
                                 "dup2",
                                 "getuid",
                                 "geteuid",
                                 "sched_setaffinity",
                                 "sched_getaffinity",
                                 "ppoll",
                                 "epoll_create",
                                 "epoll_create1",
                                 "epoll_pwait",
                                 "inet_ntop",
                                 "inet_pton",
                                 "setlocale",
                                 "nl_langinfo",
                                 "gettext",
                                 "dcgettext",
                                 "dlsym",
                                 "dlopen",
                                 "dlerror",
                                 "signal",
                                 "atexit",
                                 "qsort_r",
                                 "accept4",
                                 "getpeername",
                                 "getpwnam",
                                 "getgrnam",
                                 "gai_strerror",
                                 "freeaddrinfo",
                                 "msync",
                                 "mlockall",
                                 "raise",
                                 "setgid",
                                 "setuid",
                                 "setgroups",
                                 "setsid",
                                 "fork",
                                 "chdir",
                                 "fchmod",
                                 "fchown",
                                 "utimensat",
                                 "futimens",
                                 "frexpl",
                                 "ldexpl",
                                 "sigpending",
                                 "sigsuspend",
                                 "sigismember",
                                 "setbuf",
                                 "setvbuf"};
constexpr const char* kPrints[] = {"printf",       "fprintf",       "puts",     "fputs",  "putchar", "fputc",
                                   "putc",         "vprintf",       "vfprintf", "perror", "fflush",  "fwrite",
                                   "__printf_chk", "__fprintf_chk", "dprintf",  "write",  "send",    "syslog"};

constexpr const char* kCallsBack[] = {"qsort", "bsearch", "atexit", "signal", "sigaction", "pthread_once", "pthread_atfork",
                                     "pthread_key_create", "call_once", "tss_create", "__cxa_atexit"};

// They touch what their arguments lead to over many pointers, and keep nothing.
constexpr const char* kGoesDeep[] = {"sendmsg",  "recvmsg", "sendmmsg", "recvmmsg",
                                     "readv",    "writev",  "preadv",   "pwritev"};
constexpr const char* kKeepsWithin[] = {"tsearch", "tfind",  "tdelete",   "twalk",  "twalk_r", "tdestroy", "lsearch",
                                        "lfind",   "insque", "remque",    "strsep", "iconv",   "ftw",      "nftw",
                                        "glob",    "getsubopt", "hsearch_r", "_obstack_begin", "_obstack_begin_1",
                                        "_obstack_newchunk", "_obstack_free", "obstack_free"};
constexpr const char* kCxxPrefixes[] = {"_ZNSt",  "_ZNKSt",  "_ZSt",    "_ZNSo",   "_ZNSi", "_ZNSs",
                                        "_ZNKSs", "_ZNSa",   "_ZNSd",   "_ZNKSo",  "_ZNKSi", "_Zn",
                                        "_Zd",    "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN10__cxxabiv1", "__dynamic_cast"};

template <std::size_t count>
bool among(const char* const (&words)[count], llvm::StringRef name) {
  for (const char* word : words)
    if (name == word) return true;
  return false;
}

llvm::TargetLibraryInfoImpl& library() {
  static llvm::TargetLibraryInfoImpl implementation(llvm::Triple("x86_64-pc-linux-gnu"));
  return implementation;
}

}  // namespace

bool is_silent(llvm::StringRef name) {
  for (const char* prefix : kSilentPrefixes)
    if (name.starts_with(prefix)) return true;
  return among(kSilent, name);
}

bool is_libc(llvm::StringRef name) {
  llvm::LibFunc which;
  return library().getLibFunc(name, which) || name.starts_with("__isoc") || among(kLibc, name);
}

bool is_other_code(llvm::StringRef name) {
  for (const char* prefix : kCxxPrefixes)
    if (name.starts_with(prefix)) return false;
  return !is_silent(name) && !is_libc(name) && !keeps_within(name) && !among(kGoesDeep, name) && block_given_at(name) < 0;
}

bool keeps_within(llvm::StringRef name) { return among(kKeepsWithin, name); }

int links_at(llvm::StringRef name) {
  if (name.starts_with("_ZSt") && name.contains("_Rb_tree_")) return 8;  // behind the colour
  return name.starts_with("_ZNSt8__detail15_List_node_base") ? 0 : -1;
}

bool calls_back(llvm::StringRef name) {
  return among(kCallsBack, name) || (!is_silent(name) && !is_libc(name));
}

int block_given_at(llvm::StringRef name) {
  static constexpr const char* kFirst[] = {"posix_memalign", "getline", "getdelim", "__getdelim", "asprintf", "vasprintf",
                                           "__asprintf_chk", "__vasprintf_chk", "open_memstream"};
  if (among(kFirst, name)) return 0;
  if (name == "scandir") return 1;
  return name == "getaddrinfo" ? 3 : -1;
}

bool prints(llvm::StringRef name) { return among(kPrints, name); }

bool is_join(llvm::StringRef name, int& result) {
  result = -1;
  if (name == "_ZNSt6thread4joinEv" || name == "_ZNSt3__16thread4joinEv") return true;
  if (name == "g_thread_join" || name == "SDL_WaitThread") return true;
  if (name != "pthread_join" && name != "thrd_join" && name != "pthread_tryjoin_np" && name != "pthread_timedjoin_np")
    return false;
  result = 1;
  return true;
}

bool is_detach(llvm::StringRef name) {
  return name == "pthread_detach" || name == "thrd_detach" || name == "_ZNSt6thread6detachEv" ||
         name == "_ZNSt3__16thread6detachEv";
}

bool is_library_object(llvm::StringRef name) {
  return name == "stdin" || name == "stdout" || name == "stderr" || name == "environ" || name == "optarg" ||
         name == "optind" || name.starts_with("_ZSt") || name.starts_with("_ZNSt") || name.starts_with("_ZTV") ||
         name.starts_with("__dso_handle");
}

}  // namespace hearth::btlp
