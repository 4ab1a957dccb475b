// Whether an emulator runs this process: there no memory is far, and all times are the emulator's. Any thread.
#pragma once

namespace hearth::topology {

/// QEMU translates the instructions (its accelerator `tcg`, which says so in CPUID leaf 0x40000000). Under KVM and on
/// real processors: false. Asks the processor each time, which under KVM takes microseconds.
bool is_emulated();

}  // namespace hearth::topology
