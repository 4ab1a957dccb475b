// What the analysis knows of functions that it cannot see: libc, pthreads, the C++ libraries. Constant.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace hearth::btlp {

/// It touches no data of the program that matters here: locks, condition variables, allocation, unwinding.
bool is_silent(llvm::StringRef name);
/// A function of libc: it touches what its arguments point to, and nothing behind that.
bool is_libc(llvm::StringRef name);
/// Nothing is known of it: neither libc, nor pthreads, nor the C++ library.
bool is_other_code(llvm::StringRef name);
/// A function of libc that keeps what it is given, but only where its arguments lead.
bool keeps_within(llvm::StringRef name);
/// The C++ library's code for trees and lists puts its arguments into each other: from this byte of each on. -1: another one.
int links_at(llvm::StringRef name);
/// It calls functions that it is given, or may do so.
bool calls_back(llvm::StringRef name);
/// The argument through which it gives out a new block of memory; -1: none.
int block_given_at(llvm::StringRef name);
/// Prints: it reads what its arguments point to. The stream is nobody's data.
bool prints(llvm::StringRef name);
/// Waits for a thread; `result`: the argument that receives what its routine returned, -1: there is none.
bool is_join(llvm::StringRef name, int& result);
bool is_detach(llvm::StringRef name);
/// The library's own objects: streams, errno.
bool is_library_object(llvm::StringRef name);

}  // namespace hearth::btlp
