// gcc 14's Fortran: an allocatable variable whose memory came from GOMP_alloc is remembered, so that the code that frees or
// reallocates it, and cannot know, can ask. Any thread; one lock, since it is rare.
#pragma once

namespace hearth::rt {

void remember_allocatable(void* block);
/// Whether the block was remembered; it is no longer afterwards.
bool forget_allocatable(void* block);

}  // namespace hearth::rt
