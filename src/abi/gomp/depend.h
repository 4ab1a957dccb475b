// gcc's depend arrays, read into the runtime's Dependences.
//
// Short form:  {n, n_out, address...}                       the first n_out are out or inout, the rest in
// Long form:   {0, n, n_out, n_mutexinoutset, n_in, ...}    then addresses in that order, then pointers to depend objects
//
// A depend object is {address, kind}. Addresses come without lengths; a null one stands for omp_all_memory. Used by the
// thread that meets the construct, on its own stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/log.h"
#include "runtime/state/dependence.h"
#include "runtime/task/depend.h"

namespace hearth::abi {

class GompDependences {
 public:
  explicit GompDependences(void* const* depend) {
    if (depend == nullptr) return;
    const auto number = [depend](int i) { return reinterpret_cast<std::uintptr_t>(depend[i]); };
    const bool is_long = depend[0] == nullptr;
    const std::size_t total = is_long ? number(1) : number(0);
    const std::size_t out = is_long ? number(2) : number(1);
    const std::size_t exclusive = is_long ? number(3) : 0;
    const std::size_t plain = is_long ? out + exclusive + number(4) : total;
    void* const* addresses = depend + (is_long ? 5 : 2);
    reserve(total);
    for (std::size_t i = 0; i < total; ++i) {
      if (i >= plain)
        add_object(static_cast<void* const*>(addresses[i]));
      else if (i < out)
        add(addresses[i], rt::DependKind::out);
      else if (i < out + exclusive)
        add(addresses[i], rt::DependKind::mutexinoutset);
      else
        add(addresses[i], rt::DependKind::in);
    }
  }

  /// A plain list of depend objects (the *_async calls of the device API).
  GompDependences(std::size_t count, void* const (*objects)[2]) {
    reserve(count);
    for (std::size_t i = 0; i < count; ++i) add_object(objects[i]);
  }

  ~GompDependences() {
    if (list_ != inline_) std::free(list_);
  }
  GompDependences(const GompDependences&) = delete;
  GompDependences& operator=(const GompDependences&) = delete;

  const rt::Dependence* data() const { return list_; }
  std::size_t size() const { return count_; }

 private:
  enum ObjectKind : std::uintptr_t { kIn = 1, kOut = 2, kInout = 3, kMutexinoutset = 4, kInoutset = 5 };

  void reserve(std::size_t n) {
    if (n <= sizeof inline_ / sizeof inline_[0]) return;
    list_ = static_cast<rt::Dependence*>(std::malloc(n * sizeof(rt::Dependence)));
    if (list_ == nullptr) fatal("out of memory: no room for %zu dependences", n);
  }
  void add(const void* address, rt::DependKind kind) { list_[count_++] = {address, 0, kind, address == nullptr}; }
  void add_object(void* const* object) {
    switch (reinterpret_cast<std::uintptr_t>(object[1])) {
      case kIn: add(object[0], rt::DependKind::in); break;
      case kMutexinoutset: add(object[0], rt::DependKind::mutexinoutset); break;
      case kInoutset: add(object[0], rt::DependKind::inoutset); break;
      case kOut:
      case kInout: add(object[0], rt::DependKind::out); break;
      default:
        fatal("a depend object holds %#zx, which is not a dependence type: it is not initialised, or was destroyed.",
              static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(object[1])));
    }
  }

  rt::Dependence inline_[8];
  rt::Dependence* list_ = inline_;
  std::size_t count_ = 0;
};

}  // namespace hearth::abi
