// See thread_budget.h.
//
// Memory order: no other memory is reached through what the page holds. Two things have to be ordered: a slot's owner against its
// word (free_slot_of_dead()), and a token against the word of the slot that it names (is_free()).
#include "base/thread_budget.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace hearth {
namespace {

constexpr std::uint64_t kOpen = 1;
constexpr std::uint64_t generation_word(std::uint64_t generation) { return (generation & UINT32_MAX) << 32; }

// The word of whoever comes next in the slot: no region is open, and all tags of before are stale.
constexpr std::uint64_t next_generation(std::uint64_t word) { return generation_word((word >> 32) + 1); }

// The owner is dead: its tokens are free, and so is the slot. `word` was read before `owner`. A process that has claimed the
// slot since has made the generation larger, after it had become the owner: then either the owner read was not the dead one,
// or the word is another. Killed between the two writes, somebody else does it all again.
bool free_slot_of_dead(BudgetSlot& slot, std::uint64_t word, std::uint64_t owner) {
  // Pairs with the acquire loads of the word: who sees the next generation sees the owner that made it.
  if (!slot.word.compare_exchange_strong(word, next_generation(word), std::memory_order_acq_rel, std::memory_order_relaxed))
    return false;
  return slot.owner.compare_exchange_strong(owner, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
}

bool is_active(const BudgetSlot& slot, std::uint64_t word, std::int64_t now) {
  return (word & kOpen) != 0 || now - slot.ended.load(std::memory_order_relaxed) < ThreadBudget::kKeep;
}

}  // namespace

std::uint64_t budget_owner_now(std::uint32_t pid) {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int errno_before = errno;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : ::read(file, text, sizeof text - 1);
  const bool gone = length < 0 && (errno == ENOENT || errno == ESRCH);
  if (file >= 0) ::close(file);
  errno = errno_before;
  if (gone) return kBudgetNobody;
  if (length <= 0) return 0;
  text[length] = '\0';
  // The name stands in parentheses and may hold anything. Behind the last one: the state, which is field 3.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return 0;
  if (std::strchr("ZXx", at[2]) != nullptr) return kBudgetNobody;
  ++at;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) return 0;
  }
  return budget_owner(pid, std::strtoull(at, nullptr, 10));
}

bool budget_owner_lives(std::uint64_t owner) {
  const auto pid = static_cast<std::uint32_t>(owner >> 42);
  if (pid == 0) return false;
  const std::uint64_t now = budget_owner_now(pid);
  if (now == owner || now == 0) return true;
  if (now != kBudgetNobody) return false;  // the number is another process's
  // A process may have lost its view of /proc: then it must not take the others for dead, but for those that have ended.
  return budget_owner_now(static_cast<std::uint32_t>(getpid())) == kBudgetNobody && kill(static_cast<pid_t>(pid), 0) == 0;
}

BudgetPage* map_budget_page(const char* path, const char*& why) {
  constexpr auto kBytes = static_cast<off_t>(sizeof(BudgetPage));
  errno = 0;
  const auto refuse = [&](const char* reason, int file = -1) -> BudgetPage* {
    why = reason;
    const int error = errno;
    if (file >= 0) ::close(file);
    errno = error;
    return nullptr;
  };
  // Not followed, and not opened to be waited for: the folder is everybody's.
  const int file = ::open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file < 0) return refuse("cannot be opened");
  struct stat about;
  if (!file_status(file, about)) return refuse("cannot be looked at", file);
  errno = 0;
  if (!S_ISREG(about.st_mode)) return refuse("is not a file", file);
  if (about.st_uid != geteuid()) return refuse("belongs to another user", file);
  if ((about.st_mode & 077) != 0) return refuse("may be read or written by others", file);
  if (about.st_size != 0 && about.st_size != kBytes) return refuse("is not a budget of threads", file);
  rlimit limit{};  // going beyond it would end the program by SIGXFSZ
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < sizeof(BudgetPage)) {
    errno = EFBIG;
    return refuse("cannot be made", file);
  }
  // Now, or a page that the file system has no room for would end the program by SIGBUS.
  if (fallocate(file, 0, 0, kBytes) != 0) return refuse("cannot be made", file);
  void* const page = mmap(nullptr, sizeof(BudgetPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return refuse("cannot be mapped", file);
  ::close(file);
  return static_cast<BudgetPage*>(page);
}

void unmap_budget_page(BudgetPage* page) { munmap(page, sizeof(BudgetPage)); }

std::uint32_t ThreadBudget::slots_used() const {
  return std::min(page_->slots_used.load(std::memory_order_acquire), kBudgetSlots);  // pairs with claim()
}

bool ThreadBudget::claim(std::uint32_t index, std::uint64_t before, std::uint64_t owner) {
  BudgetSlot& slot = page_->slots[index];
  if (before != owner && !slot.owner.compare_exchange_strong(before, owner, std::memory_order_acq_rel, std::memory_order_relaxed))
    return false;
  slot.ended.store(0, std::memory_order_relaxed);
  std::uint64_t word = slot.word.load(std::memory_order_relaxed), next;
  do {
    next = next_generation(word);
    // Release: pairs with the acquire loads of the word, see free_slot_of_dead().
  } while (!slot.word.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_relaxed));
  generation_ = static_cast<std::uint32_t>(next >> 32);
  slot_ = index;
  std::uint32_t used = page_->slots_used.load(std::memory_order_relaxed);
  while (used <= index &&  // release: pairs with slots_used()
         !page_->slots_used.compare_exchange_weak(used, index + 1, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return true;
}

bool ThreadBudget::join(BudgetPage* page, std::uint32_t size, std::uint64_t owner, Lives lives) {
  forget();
  std::uint64_t magic = 0;
  if (!page->magic.compare_exchange_strong(magic, kBudgetMagic, std::memory_order_relaxed) && magic != kBudgetMagic) return false;
  page_ = page;
  lives_ = lives;
  owner_ = owner;
  size_ = std::clamp<std::uint32_t>(size, 1, kBudgetMost);
  // The one that this process has had before it began another program (exec); one that is free; one of a dead process.
  for (std::uint32_t i = 0; i < slots_used(); ++i)
    if (page_->slots[i].owner.load(std::memory_order_relaxed) == owner) return claim(i, owner, owner);
  for (std::uint32_t i = 0; i < kBudgetSlots; ++i)
    if (page_->slots[i].owner.load(std::memory_order_relaxed) == 0 && claim(i, 0, owner)) return true;
  for (std::uint32_t i = 0; i < kBudgetSlots; ++i) {
    BudgetSlot& slot = page_->slots[i];
    const std::uint64_t word = slot.word.load(std::memory_order_acquire);  // before the owner, and pairs with claim()
    const std::uint64_t other = slot.owner.load(std::memory_order_acquire);
    if (!lives_(other) && (other == 0 || free_slot_of_dead(slot, word, other)) && claim(i, 0, owner)) return true;
  }
  forget();
  return false;
}

void ThreadBudget::leave() {
  if (!joined()) return;
  // The word may change once more by somebody who robs the slot.
  for (int tries = 0; tries < 4; ++tries)
    if (free_slot_of_dead(mine(), mine().word.load(std::memory_order_relaxed), owner_)) break;
  forget();
}

// Says that a region is open: from now on nobody may take what this process has. It may have been taken before.
void ThreadBudget::open() {
  std::uint64_t expected = generation_word(generation_);
  while (!mine().word.compare_exchange_weak(expected, generation_word(expected >> 32) | kOpen, std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
  }
  const auto now = static_cast<std::uint32_t>(expected >> 32);
  if (now != generation_) held_ = 0;
  generation_ = now;
}

std::uint32_t ThreadBudget::take(std::uint32_t want, std::int64_t now) {
  if (regions_++ == 0) open();
  want = std::min(want, kBudgetMost);
  if (held_ - in_use_ < want) gather(in_use_ + want, now);
  const std::uint32_t got = std::min(want, held_ - in_use_);
  in_use_ += got;
  return got;
}

void ThreadBudget::give(std::uint32_t count, std::int64_t now) {
  const std::uint32_t used = in_use_;
  in_use_ -= count;
  if (is_wanted(now)) drop_to(std::max(in_use_, std::min(used, part(now))));
  if (--regions_ != 0) return;
  mine().ended.store(now, std::memory_order_relaxed);
  // Release: pairs with the acquire in look_around(). Fails if somebody took this process for dead: then nothing is its own.
  std::uint64_t expected = generation_word(generation_) | kOpen;
  mine().word.compare_exchange_strong(expected, generation_word(generation_), std::memory_order_release,
                                      std::memory_order_relaxed);
}

bool ThreadBudget::is_wanted(std::int64_t now) const {
  const std::int64_t wanted = page_->wanted.load(std::memory_order_relaxed);
  return wanted != 0 && now - wanted < kWanted;
}

// The token was loaded with acquire, and its owner has written its slot's word before: what is read here is no older. An older
// generation than the tag's would make a token free that is not.
bool ThreadBudget::is_free(std::uint64_t token) const {
  if (token == 0) return true;
  const std::uint32_t slot = static_cast<std::uint32_t>(token) - 1;
  return slot >= kBudgetSlots || page_->slots[slot].word.load(std::memory_order_relaxed) >> 32 != token >> 32;
}

// More tokens, up to `target` in all, as far as the others' parts allow it.
void ThreadBudget::gather(std::uint32_t target, std::int64_t now) {
  target = std::min(target, size_);
  const std::uint32_t goal = is_wanted(now) ? std::min(target, part(now)) : target;
  collect(goal);
  if (held_ >= target || now < next_look_) return;
  next_look_ = now + kLook;
  look_around(now);
  const std::uint32_t new_goal = std::min(target, part(now));
  collect(new_goal);
  if (held_ < new_goal) page_->wanted.store(now, std::memory_order_relaxed);
}

void ThreadBudget::collect(std::uint32_t goal) {
  if (held_ >= goal) return;
  std::uint32_t at = slot_ % size_;  // not all begin to look at the same token
  for (std::uint32_t looked = 0; looked < size_ && held_ < goal; ++looked, at = at + 1 == size_ ? 0 : at + 1) {
    std::uint64_t token = page_->tokens[at].load(std::memory_order_acquire);  // pairs with the release below, of another process
    if (token != tag() && is_free(token) &&  // release: pairs with the acquire above, see is_free()
        page_->tokens[at].compare_exchange_strong(token, tag(), std::memory_order_release, std::memory_order_relaxed))
      ++held_;
  }
}

void ThreadBudget::drop_to(std::uint32_t goal) {
  for (std::uint32_t at = 0; at < size_ && held_ > goal; ++at) {
    std::uint64_t token = tag();
    if (page_->tokens[at].load(std::memory_order_relaxed) == token &&
        page_->tokens[at].compare_exchange_strong(token, 0, std::memory_order_relaxed, std::memory_order_relaxed))
      --held_;
  }
}

// Frees what dead processes have, and those that have not had a region open for a while.
void ThreadBudget::look_around(std::int64_t now) {
  for (std::uint32_t i = 0, used = slots_used(); i < used; ++i) {
    if (i == slot_) continue;
    BudgetSlot& slot = page_->slots[i];
    std::uint64_t word = slot.word.load(std::memory_order_acquire);  // before the owner, and pairs with claim()
    const std::uint64_t owner = slot.owner.load(std::memory_order_acquire);
    if (owner == 0) continue;
    if (!is_active(slot, word, now))
      slot.word.compare_exchange_strong(word, next_generation(word), std::memory_order_acq_rel, std::memory_order_relaxed);
    else if (!lives_(owner))
      free_slot_of_dead(slot, word, owner);
  }
}

// An equal part for each process that has a region open, or had until a moment ago; the first ones get what is left over.
std::uint32_t ThreadBudget::part(std::int64_t now) {
  std::uint32_t active = 0, before = 0;
  for (std::uint32_t i = 0, used = slots_used(); i < used; ++i) {
    const BudgetSlot& slot = page_->slots[i];
    if (i == slot_) before = active;
    if (i == slot_ || (slot.owner.load(std::memory_order_relaxed) != 0 &&
                       is_active(slot, slot.word.load(std::memory_order_relaxed), now)))
      ++active;
  }
  active = std::max(active, 1u);
  return size_ / active + (before < size_ % active ? 1 : 0);
}

}  // namespace hearth
