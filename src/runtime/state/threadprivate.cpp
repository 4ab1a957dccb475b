#include "runtime/state/threadprivate.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/sync/lock.h"

namespace hearth::rt {
namespace {

// A variable of the program. Never freed: programs name a fixed number of them.
struct Variable {
  void* address = nullptr;
  std::size_t size = 0;
  void* initial = nullptr;  // its bytes when it was first named; null while unknown, or zeroes
  ThreadprivateMakers makers;
  Variable* next = nullptr;
};

constinit Lock variables_lock;
constinit Variable* variables = nullptr;  // under variables_lock

struct Copy {
  void* address = nullptr;  // of the variable; null: a free place
  void* memory = nullptr;
  const Variable* variable = nullptr;
};

// A thread's copies: open addressing, at most half full.
struct Copies {
  std::size_t places = 0;
  std::size_t used = 0;
  Copy* table = nullptr;
};

void* must(void* memory) {
  if (memory == nullptr) fatal("out of memory: no room for a threadprivate variable");
  return memory;
}

void* aligned(std::size_t bytes) {
  void* p = nullptr;
  if (posix_memalign(&p, kCacheLine, bytes == 0 ? 1 : bytes) != 0) p = nullptr;
  return must(p);
}

// Under variables_lock.
Variable* variable_at(void* address) {
  HEARTH_ASSERT(variables_lock.is_locked(), "the list of variables is searched for %p without its lock", address);
  for (Variable* v = variables; v != nullptr; v = v->next)
    if (v->address == address) return v;
  auto* v = new (must(std::malloc(sizeof(Variable)))) Variable;
  v->address = address;
  v->next = variables;
  return variables = v;
}

// Named with its size: from now on the value is what new copies start with.
const Variable* name_variable(void* address, std::size_t size) {
  LockGuard guard(variables_lock);
  Variable* v = variable_at(address);
  if (v->size == 0) {
    v->size = size;
    if (v->makers.construct == nullptr && v->makers.copy == nullptr) {
      v->initial = must(std::malloc(size));
      std::memcpy(v->initial, address, size);
    }
  }
  return v;
}

void fill(const Variable& v, void* copy) {
  const ThreadprivateMakers& makers = v.makers;
  if (makers.construct != nullptr) {
    if (makers.is_vector)
      reinterpret_cast<VectorConstructor>(makers.construct)(copy, makers.length);
    else
      reinterpret_cast<Constructor>(makers.construct)(copy);
  } else if (makers.copy != nullptr) {
    if (makers.is_vector)
      reinterpret_cast<VectorCopyConstructor>(makers.copy)(copy, v.address, makers.length);
    else
      reinterpret_cast<CopyConstructor>(makers.copy)(copy, v.address);
  } else {
    std::memcpy(copy, v.initial, v.size);
  }
}

std::size_t hash(const void* address) {
  return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(address) >> 3) * 0x9e3779b97f4a7c15u >>
                                  20);
}

// The entry of that address, or the free place where it belongs.
Copy& place_of(const Copies& copies, const void* address) {
  std::size_t i = hash(address) & (copies.places - 1);
  while (copies.table[i].address != nullptr && copies.table[i].address != address)
    i = (i + 1) & (copies.places - 1);
  return copies.table[i];
}

void grow(Copies& copies) {
  Copies larger;
  larger.places = copies.places == 0 ? 16 : copies.places * 2;
  larger.used = copies.used;
  larger.table = static_cast<Copy*>(must(std::calloc(larger.places, sizeof(Copy))));
  for (std::size_t i = 0; i < copies.places; ++i)
    if (copies.table[i].address != nullptr) place_of(larger, copies.table[i].address) = copies.table[i];
  std::free(copies.table);
  copies = larger;
}

[[maybe_unused]] std::size_t count_entries(const Copies& copies) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < copies.places; ++i) count += copies.table[i].address != nullptr;
  return count;
}

[[gnu::noinline]] void* make_copy(Thread* self, void* address, std::size_t size) {
  const Variable* v = name_variable(address, size);
  if (self->gtid == 0) return address;
  if (self->threadprivate == nullptr) self->threadprivate = new (must(std::malloc(sizeof(Copies)))) Copies;
  auto& copies = *static_cast<Copies*>(self->threadprivate);
  if (copies.used * 2 >= copies.places) grow(copies);
  void* memory = aligned(size);
  fill(*v, memory);
  HEARTH_ASSERT(self == tls_thread, "thread %d's copies are made by another", self->gtid);
  HEARTH_ASSERT(place_of(copies, address).address == nullptr, "thread %d has a copy of %p", self->gtid, address);
  place_of(copies, address) = {address, memory, v};
  ++copies.used;
  HEARTH_ASSERT(copies.used * 2 <= copies.places, "%zu copies in %zu places", copies.used, copies.places);
  HEARTH_ASSERT_STRUCTURE(count_entries(copies) == copies.used, "%zu entries, %zu are counted", count_entries(copies),
                          copies.used);
  return memory;
}

}  // namespace

void register_threadprivate(void* variable, const ThreadprivateMakers& makers) {
  LockGuard guard(variables_lock);
  variable_at(variable)->makers = makers;
}

void* threadprivate_copy(Thread* self, void* variable, std::size_t size) {
  auto* copies = static_cast<Copies*>(self->threadprivate);
  if (HEARTH_LIKELY(copies != nullptr)) {
    const Copy& place = place_of(*copies, variable);
    if (HEARTH_LIKELY(place.address != nullptr)) return place.memory;
  }
  return make_copy(self, variable, size);
}

void destroy_threadprivate(Thread* self) {
  auto* copies = static_cast<Copies*>(self->threadprivate);
  if (copies == nullptr) return;
  self->threadprivate = nullptr;
  for (std::size_t i = 0; i < copies->places; ++i) {
    const Copy& copy = copies->table[i];
    if (copy.address == nullptr) continue;
    const ThreadprivateMakers& makers = copy.variable->makers;
    if (makers.destroy != nullptr) {
      if (makers.is_vector)
        reinterpret_cast<VectorDestructor>(makers.destroy)(copy.memory, makers.length);
      else
        reinterpret_cast<Destructor>(makers.destroy)(copy.memory);
    }
    std::free(copy.memory);
  }
  std::free(copies->table);
  std::free(copies);
}

}  // namespace hearth::rt
