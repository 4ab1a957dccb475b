// Taskloops over random access iterators with constructors: gcc copies their argument blocks by a function
// that leaves out the bounds.
#include <cstdio>
#include <initializer_list>

namespace {

constexpr int kMost = 256;
int hits[kMost];
int failures = 0;

class Iterator {
 public:
  using difference_type = long;
  using value_type = int;
  Iterator() : at_(nullptr) {}
  explicit Iterator(int* at) : at_(at) {}
  Iterator(const Iterator& other) : at_(other.at_) {}
  ~Iterator() {}
  Iterator& operator=(const Iterator& other) {
    at_ = other.at_;
    return *this;
  }
  int& operator*() const { return *at_; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  Iterator& operator+=(long n) {
    at_ += n;
    return *this;
  }
  friend Iterator operator+(const Iterator& a, long n) { return Iterator(a.at_ + n); }
  friend Iterator operator-(const Iterator& a, long n) { return Iterator(a.at_ - n); }
  friend long operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
  friend bool operator<(const Iterator& a, const Iterator& b) { return a.at_ < b.at_; }

 private:
  int* at_;
};

// Each `stride`-th of the first n has been hit `times` times, no other.
void check(const char* what, int n, int stride, int times) {
  for (int i = 0; i < kMost; ++i) {
    const int wanted = i < n && i % stride == 0 ? times : 0;
    if (hits[i] != wanted) {
      std::printf("%s: element %d was met %d times instead of %d\n", what, i, hits[i], wanted);
      ++failures;
      break;
    }
  }
  for (int& hit : hits) hit = 0;
}

void loops(int n, bool deferred) {
  const Iterator first(hits), end = first + n;
#pragma omp taskloop if (deferred)
  for (Iterator i = first; i < end; i += 2) ++*i;
#pragma omp taskloop if (deferred) num_tasks(5)
  for (Iterator i = first; i < end; i += 2) ++*i;
#pragma omp taskloop if (deferred) grainsize(3)
  for (Iterator i = first; i < end; i += 2) ++*i;
  check("a loop by twos", n, 2, 3);
#pragma omp taskloop if (deferred) collapse(2)
  for (Iterator i = first; i < end; i += 4)
    for (int j = 0; j < 3; ++j) {
#pragma omp atomic
      *i += j;
    }
  check("a collapsed loop", n, 4, 3);
}

}  // namespace

int main() {
  for (int n : {0, 1, 7, 64, kMost})
    for (bool deferred : {false, true}) {
      loops(n, deferred);
#pragma omp parallel
#pragma omp single
      loops(n, deferred);
    }
  return failures != 0;
}
