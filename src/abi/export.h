// How an entry point is exported.
//
//   HEARTH_EXPORT int omp_get_level() { ... }
//
// Define it once, under its plain name, in a file of this room. Versions (omp_get_level@@OMP_3.0,
// omp_get_level@VERSION) are given at the link, from the lists in exports/; the names that these list and
// nobody defines become stubs. Code inside the library never calls an exported name: it calls what the entry
// point translates to.
#pragma once

#define HEARTH_EXPORT extern "C" [[gnu::visibility("default"), gnu::used]]
/// The same for an object; stands inside an extern "C" block (a const one is first declared with `extern`).
#define HEARTH_EXPORT_DATA [[gnu::visibility("default")]]
