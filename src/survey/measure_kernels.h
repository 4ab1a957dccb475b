// What `hearth topo --measure` runs on the machine: memory bound to a node, walks and streams through it by
// pinned threads. Each call returns when its threads have ended; arrays belong to the caller. Used by one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vector>

namespace hearth::survey {

/// Puts the calling thread on one CPU for as long as this lives. False: the kernel refused.
class Pinned {
 public:
  explicit Pinned(unsigned cpu);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  explicit operator bool() const { return pinned_; }

 private:
  std::vector<unsigned char> before_;
  bool pinned_ = false;
};

/// How an array got to its node.
enum class Binding : std::uint8_t {
  only_node,    // there is no other
  bound,        // by mbind, and the kernel was asked where the pages are
  first_touch,  // mbind or the question was refused: whoever touched it first was on that node
  missed,       // bound or touched, but the pages are elsewhere
  none,         // no memory
};

/// An array of one node's memory, in huge pages where the kernel gives them.
class Array {
 public:
  /// `touch_cpu`: a CPU of the node, or of another when the node has none.
  Array(std::size_t bytes, unsigned node, bool only_node, unsigned touch_cpu, bool cpu_is_near);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  Binding binding() const { return binding_; }
  bool usable() const { return binding_ != Binding::none && binding_ != Binding::missed; }
  bool huge() const { return huge_; }
  int bind_error() const { return bind_error_; }  // errno of a refused mbind, else 0
  std::size_t bytes() const { return bytes_; }
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  Binding binding_ = Binding::none;
  bool huge_ = false;
  int bind_error_ = 0;
};

/// Lays one cycle through the first `bytes` of an array, over all lines in random order.
void lay_cycle(const Array& array, std::size_t bytes, std::size_t line);

/// Nanoseconds for a step along the cycle, the median over pieces of the time. `writing`: each line is
/// written to as well.
double chase_ns(const Array& array, unsigned cpu, double seconds, bool writing);

enum class Walk : std::uint8_t { read, write, strided, random };

/// One thread's part of a stream.
struct Streamer {
  unsigned cpu;
  char* data;
  std::size_t bytes;
};

/// GB/s of all threads together while all of them run.
double stream_gbs(const std::vector<Streamer>& streamers, Walk walk, double seconds);

/// chase_ns() while the others read.
double loaded_ns(const Array& array, unsigned cpu, const std::vector<Streamer>& others, double seconds);

/// Additions per nanosecond of one core, one after the other: its clock.
double clock_ghz(unsigned cpu, double seconds);

/// Microseconds of a move_pages() of 1 and of `pages` pages of the array to a node; negative: refused.
struct MoveCost {
  double one = -1;
  double many = -1;
};
MoveCost move_cost(const Array& array, std::size_t pages, unsigned to, unsigned back);

/// Microseconds until a thread runs on the other CPU; negative: refused.
double move_thread_us(unsigned from, unsigned to, double seconds);

}  // namespace hearth::survey
