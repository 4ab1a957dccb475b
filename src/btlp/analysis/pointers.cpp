#include "btlp/analysis/pointers.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace hearth::btlp {
namespace {

constexpr std::size_t kMostPlaces = 12;    // in one object, before they become "anywhere"
constexpr std::size_t kMany = 24;          // from so many pointers on, nobody asks for places
constexpr std::size_t kMostPointers = 64;  // of one value
constexpr std::size_t kShort = 8;          // lists that are searched from end to end
constexpr std::size_t kRemembered = 1 << 18;

/// In which grid the places lie: 0 a single one, 1 anywhere, else every so many bytes.
std::int64_t grid(const Pointer& pointer) {
  if (pointer.stride != 0) return pointer.stride;
  return pointer.lo == pointer.hi ? 0 : 1;
}

std::uint64_t next_stamp() {
  static std::uint64_t last = 0;
  return ++last;
}

}  // namespace

Pointer Rest::pointer(int stand_in) {
  Pointer rest;
  rest.object = stand_in;
  rest.hi = kUnbounded;
  return rest;
}

void Rest::begin() {
  of_.clear();
  for (std::vector<int>& objects : objects_) objects.clear();
}

bool Rest::add(int object, int stand_in) {
  if (stands(object) || has(object, stand_in)) return false;
  const auto index = static_cast<std::size_t>(object);
  if (of_.size() <= index) of_.resize(2 * index + 1, 0);
  of_[index] = static_cast<std::uint8_t>(of_[index] | stand_in);
  objects_[stand_in - 1].push_back(object);
  return true;
}

Pointer Pointer::moved(std::int64_t bytes) const {
  Pointer result = *this;
  result.lo += bytes;
  if (hi != kUnbounded) result.hi += bytes;
  // Without an end only the place in the grid matters, or steps through memory would make ever new pointers.
  if (hi == kUnbounded && loop == nullptr) result.lo = stride == 0 ? 0 : (result.lo % stride + stride) % stride;
  return result;
}

Pointer Pointer::anywhere() const {
  Pointer result;
  result.object = object;
  result.hi = kUnbounded;
  if (fresh) result.loop = loop;
  result.fresh = fresh;
  return result;
}

Pointer Pointer::without_loop() const {
  Pointer result = *this;
  result.loop = nullptr;
  result.fresh = false;
  if (loop != nullptr && !fresh && stride != 0 && result.hi == result.lo) result.hi = kUnbounded;
  return result;
}

bool overlap(const Pointer& a, std::int64_t bytes_of_a, const Pointer& b, std::int64_t bytes_of_b) {
  if (a.object != b.object) return false;
  if (a.hi != kUnbounded && b.lo >= a.hi + bytes_of_a && b.stride == 0 && a.stride == 0) return false;
  if (b.hi != kUnbounded && a.lo >= b.hi + bytes_of_b && b.stride == 0 && a.stride == 0) return false;
  if (a.hi != kUnbounded && b.hi != kUnbounded && (b.lo >= a.hi + bytes_of_a || a.lo >= b.hi + bytes_of_b))
    return false;
  const std::int64_t common = std::gcd(grid(a), grid(b));
  if (common <= 1) return true;
  const std::int64_t apart = ((b.lo - a.lo) % common + common) % common;
  return apart < bytes_of_a || common - apart < bytes_of_b;
}

bool same_iteration(const Pointer& a, const Pointer& b) {
  return a.loop != nullptr && a.loop == b.loop && a.fresh == b.fresh && (a.fresh || a.stride == b.stride);
}

bool Pointers::has(const Pointer& pointer) const {
  if (items_ == nullptr) return false;
  const std::vector<Pointer>& list = items_->list;
  if (items_->slots.empty()) return std::find(list.begin(), list.end(), pointer) != list.end();
  const std::size_t mask = items_->slots.size() - 1;
  for (std::size_t slot = PointerHash()(pointer) & mask; items_->slots[slot] != 0; slot = (slot + 1) & mask)
    if (list[items_->slots[slot] - 1U] == pointer) return true;
  return false;
}

/// From here on no other set sees what is done to the items.
void Pointers::own() {
  if (items_ == nullptr)
    items_ = std::make_shared<Items>();
  else if (items_.use_count() > 1)
    items_ = std::make_shared<Items>(*items_);
  items_->stamp = next_stamp();
}

void Pointers::add(const Pointer& pointer) {
  own();
  std::vector<Pointer>& list = items_->list;
  std::vector<std::uint16_t>& slots = items_->slots;
  list.push_back(pointer);
  if (list.size() <= kShort) return;
  std::size_t from = list.size() - 1;
  if (slots.size() < 2 * list.size()) {
    slots.assign(std::max<std::size_t>(4 * kShort, 2 * slots.size()), 0);
    from = 0;
  }
  const std::size_t mask = slots.size() - 1;
  for (; from < list.size(); ++from) {
    std::size_t slot = PointerHash()(list[from]) & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = static_cast<std::uint16_t>(from + 1);
  }
}

/// One pointer that is anywhere in the object takes the place of all that are in it.
void Pointers::widen(const Pointer& pointer) {
  const std::vector<Pointer> all(begin(), end());
  items_.reset();
  for (const Pointer& item : all)
    if (item.object != pointer.object) add(item);
  add(pointer.anywhere().without_loop());
}

bool Pointers::insert(const Pointer& pointer) {
  if (Rest::stands(pointer.object) && pointer != Rest::pointer(pointer.object)) return insert(Rest::pointer(pointer.object));
  if (items_ == nullptr) {
    add(pointer);
    return true;
  }
  if (has(pointer)) return false;
  const Pointer whole{.object = pointer.object, .hi = kUnbounded};
  if (pointer != whole && has(whole)) return false;
  std::size_t in_object = 0;
  for (const Pointer& item : items_->list) {
    if (item.object != pointer.object) continue;
    if ((!item.fresh || pointer.fresh) && item == item.anywhere()) return false;
    ++in_object;
  }
  if (in_object >= kMostPlaces || (in_object > 0 && items_->list.size() >= kMany)) {
    widen(pointer);
    return true;
  }
  if (items_->list.size() < kMostPointers || Rest::stands(pointer.object)) {
    add(pointer);
    return true;
  }
  Rest::add(pointer.object);
  if (has(Rest::pointer())) return false;
  add(Rest::pointer());
  return true;
}

/// What came out of adding one set to another, by their stamps: contexts of one function ask for the same, and share what
/// they get. An answer may be forgotten.
struct Pointers::Sum {
  std::uint64_t set = 0, part = 0;
  std::shared_ptr<Items> result;  // null: nothing was new
};

Pointers::Sum& Pointers::remembered(std::uint64_t set, std::uint64_t part) {
  static std::array<Sum, kRemembered> sums;
  return sums[((set * 0x9e3779b97f4a7c15U) ^ (part * 0xc2b2ae3d27d4eb4fU)) >> 40U & (kRemembered - 1)];
}

bool Pointers::insert(const Pointers& others) {
  if (others.items_ == nullptr || others.items_ == items_) return false;
  if (items_ == nullptr) {
    items_ = others.items_;
    return true;
  }
  const std::uint64_t before = stamp();
  Sum& sum = remembered(before, others.stamp());
  if (sum.set == before && sum.part == others.stamp()) {
    if (sum.result == nullptr) return false;
    items_ = sum.result;
    return true;
  }
  bool added = false;
  for (const Pointer& other : others) added = insert(other) || added;
  sum = {before, others.stamp(), added ? items_ : nullptr};
  return added;
}

}  // namespace hearth::btlp
