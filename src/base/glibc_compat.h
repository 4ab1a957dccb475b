// The glibc floor: libhearth.so loads on glibc 2.28 wherever it was built.
//
// glibc 2.32 and 2.34 gave the functions below new versions when libpthread and libdl moved into libc;
// nothing about the functions changed, and every later glibc still has the old version. Built naively on a
// newer system the library would ask for the new one and be refused by an older loader, so each reference is
// bound to the old version here. The compiler is told to include this file first in every file of the library
// (cmake/HearthFlags.cmake), and the ctest library_needs_only_libc fails on any version above the floor. On
// glibc before 2.34 these functions live in libpthread and libdl, which programs built for OpenMP link
// themselves or had from their libgomp; a build with HEARTH_PORTABLE names both (cmake/HearthPortable.cmake), others
// neither, since newer systems have them inside libc.
//
// Functions that have no version at or below 2.28 (stat and its kin, pthread_cond_clockwait, sem_clockwait,
// gettid) must not be called from the library: use the system call.
//
// Only assembler directives: a symbol that a file does not use costs nothing in its object. Not under a
// sanitizer, whose interceptors carry no versions.
#pragma once

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HEARTH_GLIBC_COMPAT 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HEARTH_GLIBC_COMPAT 0
#endif
#endif
#ifndef HEARTH_GLIBC_COMPAT
#define HEARTH_GLIBC_COMPAT 1
#endif

#if HEARTH_GLIBC_COMPAT && defined(__linux__) && defined(__x86_64__) && !defined(__ILP32__)
#define HEARTH_OLD_SYMBOL(name, version) __asm__(".symver " #name "," #name "@" version);
#elif HEARTH_GLIBC_COMPAT && defined(__linux__) && defined(__aarch64__)
// The first glibc for 64-bit ARM was 2.17; all but the youngest of these date from there.
#define HEARTH_OLD_SYMBOL(name, version) __asm__(".symver " #name "," #name "@GLIBC_2.17");
#endif

#if defined(HEARTH_OLD_SYMBOL)
HEARTH_OLD_SYMBOL(__pthread_key_create, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(dladdr, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(dladdr1, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(dlclose, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(dlerror, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(dlopen, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(dlsym, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_getaffinity_np, "GLIBC_2.3.4")
HEARTH_OLD_SYMBOL(pthread_attr_getguardsize, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_getstack, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_getstackaddr, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_getstacksize, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_setaffinity_np, "GLIBC_2.3.4")
HEARTH_OLD_SYMBOL(pthread_attr_setguardsize, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_setstack, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_setstackaddr, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_attr_setstacksize, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_barrier_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_barrier_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_barrier_wait, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_barrierattr_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_barrierattr_getpshared, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(pthread_barrierattr_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_barrierattr_setpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_cancel, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_condattr_getclock, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(pthread_condattr_getpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_condattr_setclock, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(pthread_condattr_setpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_create, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_detach, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_getaffinity_np, "GLIBC_2.3.4")
HEARTH_OLD_SYMBOL(pthread_getattr_np, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_getconcurrency, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_getcpuclockid, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_getname_np, "GLIBC_2.12")
HEARTH_OLD_SYMBOL(pthread_getspecific, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_join, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_key_create, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_key_delete, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_kill, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutex_consistent, "GLIBC_2.12")
HEARTH_OLD_SYMBOL(pthread_mutex_getprioceiling, "GLIBC_2.4")
HEARTH_OLD_SYMBOL(pthread_mutex_setprioceiling, "GLIBC_2.4")
HEARTH_OLD_SYMBOL(pthread_mutex_timedlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutex_trylock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutexattr_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutexattr_getprioceiling, "GLIBC_2.4")
HEARTH_OLD_SYMBOL(pthread_mutexattr_getprotocol, "GLIBC_2.4")
HEARTH_OLD_SYMBOL(pthread_mutexattr_getpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutexattr_getrobust, "GLIBC_2.12")
HEARTH_OLD_SYMBOL(pthread_mutexattr_gettype, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutexattr_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutexattr_setprioceiling, "GLIBC_2.4")
HEARTH_OLD_SYMBOL(pthread_mutexattr_setprotocol, "GLIBC_2.4")
HEARTH_OLD_SYMBOL(pthread_mutexattr_setpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_mutexattr_setrobust, "GLIBC_2.12")
HEARTH_OLD_SYMBOL(pthread_mutexattr_settype, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_once, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_rdlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_timedrdlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_timedwrlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_tryrdlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_trywrlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_unlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlock_wrlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlockattr_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlockattr_getkind_np, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlockattr_getpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlockattr_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlockattr_setkind_np, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_rwlockattr_setpshared, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_setaffinity_np, "GLIBC_2.3.4")
HEARTH_OLD_SYMBOL(pthread_setconcurrency, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_setname_np, "GLIBC_2.12")
HEARTH_OLD_SYMBOL(pthread_setschedprio, "GLIBC_2.3.4")
HEARTH_OLD_SYMBOL(pthread_setspecific, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_sigmask, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_sigqueue, "GLIBC_2.11")
HEARTH_OLD_SYMBOL(pthread_spin_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_spin_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_spin_lock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_spin_trylock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_spin_unlock, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_testcancel, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(pthread_timedjoin_np, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(pthread_tryjoin_np, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(sem_close, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_destroy, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_getvalue, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_init, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_open, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_post, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_timedwait, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_trywait, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_unlink, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(sem_wait, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(shm_open, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(shm_unlink, "GLIBC_2.2.5")
HEARTH_OLD_SYMBOL(timer_create, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(timer_delete, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(timer_getoverrun, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(timer_gettime, "GLIBC_2.3.3")
HEARTH_OLD_SYMBOL(timer_settime, "GLIBC_2.3.3")
#undef HEARTH_OLD_SYMBOL
#endif
