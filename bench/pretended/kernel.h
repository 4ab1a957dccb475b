// What a kernel does with threads, pretended beneath libgomp and libomp: kernel.c stands in front of the calls of libc
// by which they ask for cores and bind threads. Under Hearth the calls go through.
#pragma once

/// The pretended core on which the calling thread is.
int kernel_cpu(void);
