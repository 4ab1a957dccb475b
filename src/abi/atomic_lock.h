// The one lock behind atomic updates that no instruction does. Any thread.
//
// One for all: gcc's GOMP_atomic_start() says nothing about the address, so every other lock for an atomic
// update must be this one too, or a program with objects of two compilers could update one long double under
// two locks.
#pragma once

#include "base/cacheline.h"
#include "runtime/sync/lock.h"

namespace hearth::abi {

struct alignas(kCacheLinePair) AtomicLock {
  rt::Lock lock;
};
extern constinit AtomicLock atomic_lock;

}  // namespace hearth::abi
