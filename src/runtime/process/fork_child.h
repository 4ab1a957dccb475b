// What a child of fork() keeps of the runtime: the calling thread, which is the only one.
#pragma once

namespace hearth::rt {

/// Handler of pthread_atfork(), in the child.
void in_fork_child();

}  // namespace hearth::rt
