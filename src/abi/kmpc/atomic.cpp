// The __kmpc_atomic_* family: 500 entry points that are one template.
//
// Any thread. clang does atomic updates inline and calls none of these; code from Intel's compilers and older
// clangs does. Numbers of at most eight bytes are updated by compare-and-swap on their bits, everything else
// under the one lock for atomics (abi/atomic_lock.h). An operand's type decides, never its alignment alone:
// all calls on one variable must agree, so a misaligned number goes under the lock only on machines whose
// instructions refuse it, where then all calls do.
//
// Orders: sequentially consistent, as libomp's own. The partner is in the program: another atomic operation on the
// same variable.
//
// Names: <type><bytes>[u]_<op>[_cpt][_rev][_<type of the right side>], with `cpt` for capture (the last
// argument says whether the value after or before the update is wanted) and `rev` for x = value op x.
#include <cstdint>
#include <cstring>

#include <type_traits>

#include "abi/atomic_lock.h"
#include "abi/export.h"

namespace {

using Quad = __float128;
using Complex4 = __complex__ float;
using Complex8 = __complex__ double;
using Complex10 = __complex__ long double;
using Complex16 = __complex__ __float128;

template <std::size_t Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = std::uint8_t;
};
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

// A complex of two floats has eight bytes, but only the alignment of a float.
template <class T>
constexpr bool kNative = sizeof(T) <= 8 && !std::is_same_v<T, Complex4>;

template <class T>
struct Change {
  T before;
  T after;
};

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

bool instruction_can(const void* address, std::size_t bytes) {
#if defined(__x86_64__) || defined(__i386__)
  (void)address, (void)bytes;
  return true;
#else
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
#endif
}

/// *where = next(*where), atomically. `next` may run several times.
template <class T, class Next>
inline Change<T> update(T* where, Next next) {
  if constexpr (kNative<T>) {
    if (instruction_can(where, sizeof(T))) {
      using Bits = typename BitsOf<sizeof(T)>::type;
      auto* bits = reinterpret_cast<Bits*>(where);
      Bits seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
      for (;;) {
        const T before = bits_as<T>(seen);
        const T after = next(before);
        if (__atomic_compare_exchange_n(bits, &seen, bits_as<Bits>(after), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
          return {before, after};
      }
    }
  }
  hearth::rt::LockGuard guard(hearth::abi::atomic_lock.lock);
  const T before = *where;
  const T after = next(before);
  *where = after;
  return {before, after};
}

template <class T>
inline T read(T* where) {
  if constexpr (kNative<T>) {
    if (instruction_can(where, sizeof(T))) {
      using Bits = typename BitsOf<sizeof(T)>::type;
      return bits_as<T>(__atomic_load_n(reinterpret_cast<Bits*>(where), __ATOMIC_SEQ_CST));
    }
  }
  hearth::rt::LockGuard guard(hearth::abi::atomic_lock.lock);
  return *where;
}

template <class T>
inline T exchange(T* where, T value) {
  if constexpr (kNative<T>) {
    if (instruction_can(where, sizeof(T))) {
      using Bits = typename BitsOf<sizeof(T)>::type;
      return bits_as<T>(
          __atomic_exchange_n(reinterpret_cast<Bits*>(where), bits_as<Bits>(value), __ATOMIC_SEQ_CST));
    }
  }
  hearth::rt::LockGuard guard(hearth::abi::atomic_lock.lock);
  const T before = *where;
  *where = value;
  return before;
}

// The operations, on whatever type the two sides have in common.
struct Add {
  template <class A, class B>
  auto operator()(A a, B b) const {
    return a + b;
  }
};
struct Sub {
  template <class A, class B>
  auto operator()(A a, B b) const {
    return a - b;
  }
};
struct Mul {
  template <class A, class B>
  auto operator()(A a, B b) const {
    return a * b;
  }
};
struct Div {
  template <class A, class B>
  auto operator()(A a, B b) const {
    return a / b;
  }
};
struct AndBits {
  template <class A>
  auto operator()(A a, A b) const {
    return a & b;
  }
};
struct OrBits {
  template <class A>
  auto operator()(A a, A b) const {
    return a | b;
  }
};
struct XorBits {
  template <class A>
  auto operator()(A a, A b) const {
    return a ^ b;
  }
};
struct AndLogical {
  template <class A>
  auto operator()(A a, A b) const {
    return a && b;
  }
};
struct OrLogical {
  template <class A>
  auto operator()(A a, A b) const {
    return a || b;
  }
};
struct Equivalent {  // Fortran's .eqv. on all bits; .neqv. is XorBits
  template <class A>
  auto operator()(A a, A b) const {
    return a ^ ~b;
  }
};
struct ShiftLeft {
  template <class A>
  auto operator()(A a, A b) const {
    return a << b;
  }
};
struct ShiftRight {
  template <class A>
  auto operator()(A a, A b) const {
    return a >> b;
  }
};
struct Min {
  template <class A>
  auto operator()(A a, A b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class A>
  auto operator()(A a, A b) const {
    return b > a ? b : a;
  }
};

template <class T, class Op, class V>
inline Change<T> apply(T* where, V value) {
  return update(where, [value](T x) { return static_cast<T>(Op{}(x, value)); });
}
template <class T, class Op, class V>
inline Change<T> apply_reversed(T* where, V value) {
  return update(where, [value](T x) { return static_cast<T>(Op{}(value, x)); });
}
template <class T>
inline T pick(const Change<T>& change, int after) {
  return after != 0 ? change.after : change.before;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types, and parts of names.
// `S` is the type's part of the name, `N` the operation's; `V` the type of the right side with `X` its part
// of the name.
#define UPDATE(S, T, N, OP) \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N(void*, int, T* x, T value) { apply<T, OP>(x, value); }
#define CAPTURE(S, T, N, OP)                                                            \
  HEARTH_EXPORT T __kmpc_atomic_##S##_##N##_cpt(void*, int, T* x, T value, int after) { \
    return pick(apply<T, OP>(x, value), after);                                         \
  }
#define REVERSED(S, T, N, OP)                                                   \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N##_rev(void*, int, T* x, T value) { \
    apply_reversed<T, OP>(x, value);                                            \
  }
#define CAPTURE_REVERSED(S, T, N, OP)                                                       \
  HEARTH_EXPORT T __kmpc_atomic_##S##_##N##_cpt_rev(void*, int, T* x, T value, int after) { \
    return pick(apply_reversed<T, OP>(x, value), after);                                    \
  }
#define MIXED(S, T, N, OP, X, V) \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N##_##X(void*, int, T* x, V value) { apply<T, OP>(x, value); }

#define SYMMETRIC(S, T, N, OP) UPDATE(S, T, N, OP) CAPTURE(S, T, N, OP)
#define ORDERED(S, T, N, OP) SYMMETRIC(S, T, N, OP) REVERSED(S, T, N, OP) CAPTURE_REVERSED(S, T, N, OP)

#define READ_WRITE(S, T)                                                       \
  HEARTH_EXPORT T __kmpc_atomic_##S##_rd(void*, int, T* x) { return read(x); } \
  HEARTH_EXPORT void __kmpc_atomic_##S##_wr(void*, int, T* x, T value) { exchange(x, value); }
#define SWAP(S, T) \
  HEARTH_EXPORT T __kmpc_atomic_##S##_swp(void*, int, T* x, T value) { return exchange(x, value); }

// The right side is a quadruple-precision number, which Intel's compilers pass for mixed expressions.
#define WITH_QUAD(S, T, N, OP)                                                                              \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N##_fp(void*, int, T* x, Quad value) { apply<T, OP>(x, value); } \
  HEARTH_EXPORT T __kmpc_atomic_##S##_##N##_cpt_fp(void*, int, T* x, Quad value, int after) {               \
    return pick(apply<T, OP>(x, value), after);                                                             \
  }
#define WITH_QUAD_ORDERED(S, T, N, OP)                                                            \
  WITH_QUAD(S, T, N, OP)                                                                          \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N##_rev_fp(void*, int, T* x, Quad value) {             \
    apply_reversed<T, OP>(x, value);                                                              \
  }                                                                                               \
  HEARTH_EXPORT T __kmpc_atomic_##S##_##N##_cpt_rev_fp(void*, int, T* x, Quad value, int after) { \
    return pick(apply_reversed<T, OP>(x, value), after);                                          \
  }
#define ARITHMETIC_WITH_QUAD(S, T)  \
  WITH_QUAD(S, T, add, Add)         \
  WITH_QUAD_ORDERED(S, T, sub, Sub) \
  WITH_QUAD(S, T, mul, Mul)         \
  WITH_QUAD_ORDERED(S, T, div, Div)

#define ARITHMETIC(S, T)    \
  SYMMETRIC(S, T, add, Add) \
  ORDERED(S, T, sub, Sub)   \
  SYMMETRIC(S, T, mul, Mul) \
  ORDERED(S, T, div, Div)   \
  READ_WRITE(S, T)

#define INTEGER(S, T, U)                \
  ARITHMETIC(S, T)                      \
  SWAP(S, T)                            \
  SYMMETRIC(S, T, andb, AndBits)        \
  SYMMETRIC(S, T, orb, OrBits)          \
  SYMMETRIC(S, T, xor, XorBits)         \
  SYMMETRIC(S, T, andl, AndLogical)     \
  SYMMETRIC(S, T, orl, OrLogical)       \
  SYMMETRIC(S, T, eqv, Equivalent)      \
  SYMMETRIC(S, T, neqv, XorBits)        \
  SYMMETRIC(S, T, min, Min)             \
  SYMMETRIC(S, T, max, Max)             \
  ORDERED(S, T, shl, ShiftLeft)         \
  ORDERED(S, T, shr, ShiftRight)        \
  ORDERED(S##u, U, div, Div)            \
  ORDERED(S##u, U, shr, ShiftRight)     \
  MIXED(S, T, mul, Mul, float8, double) \
  MIXED(S, T, div, Div, float8, double) \
  ARITHMETIC_WITH_QUAD(S, T)            \
  ARITHMETIC_WITH_QUAD(S##u, U)

INTEGER(fixed1, std::int8_t, std::uint8_t)
INTEGER(fixed2, std::int16_t, std::uint16_t)
INTEGER(fixed4, std::int32_t, std::uint32_t)
INTEGER(fixed8, std::int64_t, std::uint64_t)

#define REAL(S, T)          \
  ARITHMETIC(S, T)          \
  SWAP(S, T)                \
  SYMMETRIC(S, T, min, Min) \
  SYMMETRIC(S, T, max, Max)

REAL(float4, float)
REAL(float8, double)
REAL(float10, long double)
REAL(float16, Quad)
ARITHMETIC_WITH_QUAD(float4, float)
ARITHMETIC_WITH_QUAD(float8, double)
ARITHMETIC_WITH_QUAD(float10, long double)
MIXED(float4, float, add, Add, float8, double)
MIXED(float4, float, sub, Sub, float8, double)
MIXED(float4, float, mul, Mul, float8, double)
MIXED(float4, float, div, Div, float8, double)

ARITHMETIC(cmplx8, Complex8)
ARITHMETIC(cmplx10, Complex10)
ARITHMETIC(cmplx16, Complex16)
SWAP(cmplx8, Complex8)
SWAP(cmplx10, Complex10)
SWAP(cmplx16, Complex16)

// Captures of the small complex come back through an additional argument: the peer's ABI, made for a system
// that could not return such a structure.
#define CAPTURE_OUT(S, T, N, OP)                                                                   \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N##_cpt(void*, int, T* x, T value, T* out, int after) { \
    *out = pick(apply<T, OP>(x, value), after);                                                    \
  }
#define CAPTURE_OUT_REVERSED(S, T, N, OP)                                                              \
  HEARTH_EXPORT void __kmpc_atomic_##S##_##N##_cpt_rev(void*, int, T* x, T value, T* out, int after) { \
    *out = pick(apply_reversed<T, OP>(x, value), after);                                               \
  }
#define COMPLEX4(N, OP)                \
  UPDATE(cmplx4, Complex4, N, OP)      \
  CAPTURE_OUT(cmplx4, Complex4, N, OP) \
  MIXED(cmplx4, Complex4, N, OP, cmplx8, Complex8)
COMPLEX4(add, Add)
COMPLEX4(sub, Sub)
COMPLEX4(mul, Mul)
COMPLEX4(div, Div)
REVERSED(cmplx4, Complex4, sub, Sub)
REVERSED(cmplx4, Complex4, div, Div)
CAPTURE_OUT_REVERSED(cmplx4, Complex4, sub, Sub)
CAPTURE_OUT_REVERSED(cmplx4, Complex4, div, Div)
READ_WRITE(cmplx4, Complex4)
HEARTH_EXPORT void __kmpc_atomic_cmplx4_swp(void*, int, Complex4* x, Complex4 value, Complex4* out) {
  *out = exchange(x, value);
}

// Updates of which we know only the size: the compiler passes a function that computes *out = *left op
// *right.
using Combine = void (*)(void* out, void* left, void* right);

#define SIZED(BYTES)                                                                            \
  HEARTH_EXPORT void __kmpc_atomic_##BYTES(void*, int, void* x, void* value, Combine combine) { \
    using Bits = BitsOf<BYTES>::type;                                                           \
    update(static_cast<Bits*>(x), [value, combine](Bits before) {                               \
      Bits after = before;                                                                      \
      combine(&after, &before, value);                                                          \
      return after;                                                                             \
    });                                                                                         \
  }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)

#define SIZED_LOCKED(BYTES)                                                                     \
  HEARTH_EXPORT void __kmpc_atomic_##BYTES(void*, int, void* x, void* value, Combine combine) { \
    hearth::rt::LockGuard guard(hearth::abi::atomic_lock.lock);                                 \
    combine(x, x, value);                                                                       \
  }
SIZED_LOCKED(10)
SIZED_LOCKED(16)
SIZED_LOCKED(20)
SIZED_LOCKED(32)

// Compare and swap. `bool` tells whether it swapped, `val` what was there; with _cpt, `seen` gets what stands
// there afterwards (`bool` leaves it alone when it swapped: the program knows the value then).
#define COMPARE(BYTES, T)                                                                                 \
  HEARTH_EXPORT bool __kmpc_atomic_bool_##BYTES##_cas(void*, int, T* x, T expected, T desired) {          \
    return __atomic_compare_exchange_n(x, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                       \
  HEARTH_EXPORT T __kmpc_atomic_val_##BYTES##_cas(void*, int, T* x, T expected, T desired) {              \
    __atomic_compare_exchange_n(x, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    return expected;                                                                                      \
  }                                                                                                       \
  HEARTH_EXPORT bool __kmpc_atomic_bool_##BYTES##_cas_cpt(void*, int, T* x, T expected, T desired,        \
                                                          T* seen) {                                      \
    if (__atomic_compare_exchange_n(x, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))    \
      return true;                                                                                        \
    *seen = expected;                                                                                     \
    return false;                                                                                         \
  }                                                                                                       \
  HEARTH_EXPORT T __kmpc_atomic_val_##BYTES##_cas_cpt(void*, int, T* x, T expected, T desired, T* seen) { \
    const bool swapped =                                                                                  \
        __atomic_compare_exchange_n(x, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
    *seen = swapped ? desired : expected;                                                                 \
    return expected;                                                                                      \
  }
COMPARE(1, std::int8_t)
COMPARE(2, std::int16_t)
COMPARE(4, std::int32_t)
COMPARE(8, std::int64_t)
// NOLINTEND(bugprone-macro-parentheses)
