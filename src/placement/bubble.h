// BubbleTree: who works with whom, and on which memory. A team is a bubble: a group of threads that are placed together
// (Broquedis et al. 2009, 3.3). Threads are leaves; a nested team is a bubble inside the bubble of the team it was forked
// from. It stands where its primary thread stood, and that thread is the first one inside. The root is the whole program.
//
// Plain facts, in the caller's memory: nothing here allocates, blocks or looks at the system. Not synchronised: whoever
// changes a tree keeps others away. Entities and attachments are named by indices, which are used again after remove() and
// detach(). What is full says so by kNoEntity or kNoAttachment, and the tree stays as it was.
//
//   runtime: makes bubbles and threads as teams begin and end, attaches what hints and footprints say, sum_up(), and asks a
//            BubblePolicy (policy/bubble_policy.h) for places. Simulator and tests do the same.
//
// Numbers of an entity by location are in rows, one float for each of locations(): bytes times how often each is used
// (passes), divided by the users of the memory. Those of a bubble contain those of everything inside, after sum_up().
//
// Several entities may use the same memory: their attachments of it share() it, one of them leads, and what becomes of the
// memory is said of that one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/need.h"

namespace hearth::placement {

using EntityId = std::int32_t;
inline constexpr EntityId kNoEntity = -1;
using AttachmentId = std::int32_t;
inline constexpr AttachmentId kNoAttachment = -1;
inline constexpr std::uint32_t kNoCpu = ~0u;

enum class Intensity : std::uint8_t { unknown, compute, memory };  // what bounds a thread

/// A thread or a bubble. Callers write the second group at any time; the links belong to BubbleTree.
struct Entity {
  EntityId parent = kNoEntity;
  EntityId first_inside = kNoEntity;
  EntityId last_inside = kNoEntity;
  EntityId previous = kNoEntity;  // beside it in the same bubble
  EntityId next = kNoEntity;
  AttachmentId first_attachment = kNoAttachment;
  bool is_thread = false;

  Intensity intensity = Intensity::unknown;
  /// The user has said where it runs (OMP_PLACES, proc_bind…): it stays at last_cpu, and only its memory may move.
  bool seated = false;
  /// Of a thread: 1, or the part of the time that it is busy, or any weight. Of a bubble: the sum, after sum_up().
  float load = 1;
  /// Of a thread: what it computes from one barrier to the next, beside waiting for memory; 0: nobody knows.
  float work_ns = 0;
  std::int32_t threads = 1;         // of a bubble: how many are inside, after sum_up()
  std::uint32_t last_cpu = kNoCpu;  // where it ran last, as the kernel numbers it; bubbles: none
  std::uint32_t last_ran = 0;       // the larger, the more recently
  std::uint64_t tag = 0;            // the caller's
};

/// Memory that an entity uses: the paper's memory hint. It may be a part of a larger area.
struct Attachment {
  EntityId owner = kNoEntity;
  AttachmentId next = kNoAttachment;  // of the same owner
  Access access = Access::read;
  float passes = 1;     // how often each byte is read, written, or both, from one barrier to the next
  bool movable = true;  // false: pinned, a mapped device, or the program has said so
  /// BubbleTree keeps the following; callers need not fill them in. Those that share memory are a ring.
  AttachmentId next_sharer = kNoAttachment;
  AttachmentId leader = kNoAttachment;
  std::int32_t users = 1;   // of a leader: the entities that share it
  std::uint64_t where = 0;  // its bytes, as bits, and how many they are
  std::uint64_t total = 0;
};

class BubbleTree {
 public:
  struct Room {
    std::int32_t entities = 0;
    std::int32_t attachments = 0;
    std::int32_t locations = 1;
  };
  /// How much memory a tree with that room takes, in bytes.
  static std::size_t bytes_for(const Room& room);
  /// `memory`: bytes_for() of it, for 8-byte words, kept as long as the tree. The tree has a root bubble and nothing else.
  void begin(const Room& room, void* memory);

  static constexpr EntityId kRoot = 0;
  EntityId add_bubble(EntityId parent) { return add(parent, false); }
  EntityId add_thread(EntityId parent) { return add(parent, true); }
  /// With all that is inside and attached. Not the root.
  void remove(EntityId entity);
  /// To the end of another bubble, which must not be inside it.
  void move_to(EntityId entity, EntityId bubble);
  /// A thread forks a nested team: a bubble takes the thread's place, and the thread is the first one inside. Returns the
  /// bubble.
  EntityId enclose(EntityId thread);

  /// `bytes` by location; what is beyond locations() or unknown does not count. An entity may have several.
  AttachmentId attach(EntityId owner, const Attachment& facts, const Shares& bytes);
  void detach(AttachmentId attachment);
  /// The bytes have moved, or were touched for the first time.
  void relocate(AttachmentId attachment, const Shares& bytes);
  /// With all that share it.
  void relocate(AttachmentId attachment, Location all_to);
  /// `attachment`, which shares nothing yet, is the same memory as `other`, or most of it is: its bytes are where the other's
  /// are, in the same parts.
  void share(AttachmentId attachment, AttachmentId other);
  bool leads(AttachmentId attachment) const { return attachments_[attachment].leader == attachment; }
  std::int32_t users(AttachmentId attachment) const { return attachments_[attachments_[attachment].leader].users; }
  /// Calls function(attachment) for it and all that share its memory.
  template <class Function>
  void for_each_sharer(AttachmentId attachment, Function&& function) const {
    AttachmentId each = attachment;
    do {
      function(each);
      each = attachments_[each].next_sharer;
    } while (each != attachment);
  }

  /// Loads, threads, and bytes read and written of each bubble from what is inside. Of the whole tree, or of one subtree and
  /// of the bubbles around it. To be called after changes and before anybody plans.
  void sum_up(EntityId top = kRoot);

  std::int32_t locations() const { return room_.locations; }
  std::int32_t entities() const { return used_entities_; }  // indices are below it
  std::int32_t attachments() const { return used_attachments_; }
  Entity& operator[](EntityId entity) { return entities_[entity]; }
  const Entity& operator[](EntityId entity) const { return entities_[entity]; }
  Attachment& attachment(AttachmentId attachment) { return attachments_[attachment]; }
  const Attachment& attachment(AttachmentId attachment) const { return attachments_[attachment]; }
  /// By location: the bytes of an attachment, as they were attached.
  const std::uint64_t* bytes(AttachmentId attachment) const { return bytes_ + offset(attachment); }
  /// By location: bytes read and written, weighted as above.
  const float* read(EntityId entity) const { return read_ + offset(entity); }
  const float* written(EntityId entity) const { return written_ + offset(entity); }
  /// Read and written together; a written byte counts as kWrittenWeight read ones.
  float weight(EntityId entity, Location where) const {
    return read(entity)[where] + kWrittenWeight * written(entity)[where];
  }
  float weight(EntityId entity) const;
  /// Where most of its weight is, the first of equals; kUnknown: it has none.
  Location favourite(EntityId entity) const;

  /// Table 3 of Broquedis et al. 2009: 142 ns against 83 for a line of local memory.
  static constexpr float kWrittenWeight = 1.7F;

  /// Everything inside `top` and itself, outer before inner: next_inside(e, top) until kNoEntity, from `top`.
  EntityId next_inside(EntityId entity, EntityId top) const;
  /// The same without what is inside `entity`.
  EntityId next_beside(EntityId entity, EntityId top) const;
  bool is_inside(EntityId entity, EntityId top) const;

 private:
  std::ptrdiff_t offset(std::int32_t index) const { return static_cast<std::ptrdiff_t>(index) * room_.locations; }
  EntityId add(EntityId parent, bool is_thread);
  void link_before(EntityId entity, EntityId parent, EntityId next);
  void unlink(EntityId entity);
  void free_entity(EntityId entity);
  bool owner_has_another(AttachmentId attachment) const;
  void stop_sharing(AttachmentId attachment);
  void add_own(EntityId entity);
  void add_from_inside(EntityId bubble);

  Room room_;
  Entity* entities_ = nullptr;
  Attachment* attachments_ = nullptr;
  std::uint64_t* bytes_ = nullptr;
  float* read_ = nullptr;
  float* written_ = nullptr;
  std::int32_t used_entities_ = 0;
  std::int32_t used_attachments_ = 0;
  EntityId free_entity_ = kNoEntity;
  AttachmentId free_attachment_ = kNoAttachment;
};

}  // namespace hearth::placement
