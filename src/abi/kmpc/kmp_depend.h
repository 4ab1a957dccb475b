// Clang's dependence lists, read into the runtime's Dependences. Used by the thread that meets the construct,
// on its own stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "abi/kmpc/kmp_types.h"
#include "base/log.h"
#include "runtime/state/dependence.h"
#include "runtime/task/depend.h"

namespace hearth::abi {

class KmpDependences {
 public:
  KmpDependences(std::int32_t count, const kmp_depend_info_t* list, std::int32_t noalias_count,
                 const kmp_depend_info_t* noalias_list) {
    const std::size_t n = positive(count) + positive(noalias_count);
    if (n > sizeof inline_ / sizeof inline_[0]) {
      list_ = static_cast<rt::Dependence*>(std::malloc(n * sizeof(rt::Dependence)));
      if (list_ == nullptr) fatal("out of memory: no room for %zu dependences", n);
    }
    for (std::size_t i = 0; i < positive(count); ++i) add(list[i]);
    for (std::size_t i = 0; i < positive(noalias_count); ++i) add(noalias_list[i]);
  }
  ~KmpDependences() {
    if (list_ != inline_) std::free(list_);
  }
  KmpDependences(const KmpDependences&) = delete;
  KmpDependences& operator=(const KmpDependences&) = delete;

  const rt::Dependence* data() const { return list_; }
  std::size_t size() const { return count_; }

 private:
  enum Flag : std::uint8_t { kIn = 1, kOut = 2, kMutexinoutset = 4, kInoutset = 8, kAllMemory = 0x80 };

  static std::size_t positive(std::int32_t n) { return n > 0 ? static_cast<std::size_t>(n) : 0; }

  void add(const kmp_depend_info_t& info) {
    rt::DependKind kind = rt::DependKind::out;
    if ((info.flag & kOut) != 0)
      kind = rt::DependKind::out;
    else if ((info.flag & kMutexinoutset) != 0)
      kind = rt::DependKind::mutexinoutset;
    else if ((info.flag & kInoutset) != 0)
      kind = rt::DependKind::inoutset;
    else if ((info.flag & kIn) != 0)
      kind = rt::DependKind::in;
    // omp_all_memory, in clang's form and in that of its older releases.
    const bool all_memory =
        (info.flag & kAllMemory) != 0 || static_cast<std::uintptr_t>(info.base_addr) == UINTPTR_MAX;
    list_[count_++] = {reinterpret_cast<const void*>(info.base_addr), info.len, kind, all_memory};
  }

  rt::Dependence inline_[8];
  rt::Dependence* list_ = inline_;
  std::size_t count_ = 0;
};

}  // namespace hearth::abi
