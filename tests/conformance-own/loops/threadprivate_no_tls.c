// The same variables without thread-local storage, where the compiler can (clang: the runtime then keeps the
// copies).
//
// clang-flags: -fnoopenmp-use-tls
#include "threadprivate.c"  // NOLINT(bugprone-suspicious-include)
