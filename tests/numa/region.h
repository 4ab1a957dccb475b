// Marks a region of interest for the instrument of tests/numa: two NOPs, harmless on every x86-64 machine,
// which the QEMU plugin recognises. One thread marks; what all threads do between the marks is counted.
// Regions do not nest.
#pragma once

#if defined(__x86_64__)
#define NUMA_MARK(number) __asm__ volatile("nopl 0x4E554D00+%c0(%%rax)" ::"i"(number) : "memory")
#else
#define NUMA_MARK(number) ((void)0)
#endif
#define NUMA_REGION_BEGIN() NUMA_MARK(1)
#define NUMA_REGION_END() NUMA_MARK(2)
// What is timed but not counted: only a machine that tells time (lab/clock.py) takes notice.
#define NUMA_CLOCK_BEGIN() NUMA_MARK(3)
#define NUMA_CLOCK_END() NUMA_MARK(4)
