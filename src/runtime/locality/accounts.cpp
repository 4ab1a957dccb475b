#include "runtime/locality/accounts.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cpu.h"
#include "runtime/locality/learned.h"
#include "runtime/state/function_hash.h"

namespace hearth::rt {

namespace {

constexpr std::size_t kEntries = kFunctionHashes, kProbes = 8;

constinit std::atomic<const void*> constructs[kEntries];
constinit policy::Account accounts[kEntries];

}  // namespace

policy::Account& account_of(const Task* task) {
  const void* const body = task->is(kTaskRange) ? task->body() : task->function_of_program();
  const std::size_t first = function_hash(body);
  for (std::size_t i = first; i < first + kProbes; ++i) {
    std::atomic<const void*>& construct = constructs[i % kEntries];
    const void* owner = construct.load(std::memory_order_relaxed);
    if (owner == body) return accounts[i % kEntries];
    if (owner != nullptr) continue;
    const bool is_new = construct.compare_exchange_strong(owner, body, std::memory_order_relaxed);
    if (HEARTH_UNLIKELY(is_new && learned::on)) learned::begin(body, accounts[i % kEntries]);
    if (is_new || owner == body) return accounts[i % kEntries];
  }
  return accounts[first];
}

void for_each_account(void (*visit)(const void* body, const policy::Account& account, void* data), void* data) {
  for (std::size_t i = 0; i < kEntries; ++i)
    if (const void* const body = constructs[i].load(std::memory_order_relaxed)) visit(body, accounts[i], data);
}

}  // namespace hearth::rt
