/* The __kmpc_atomic_* entry points, called as Intel's compilers call them: what each computes, and that
   updates by several threads are all there. */
#include <complex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 4, kTurns = 20000 };

#define CHECK(what)                                    \
  do {                                                 \
    if (!(what)) {                                     \
      printf("wrong: line %d: %s\n", __LINE__, #what); \
      exit(1);                                         \
    }                                                  \
  } while (0)

typedef float _Complex c4;
typedef double _Complex c8;
typedef long double _Complex c10;
typedef __float128 quad;
typedef _Complex float c16 __attribute__((mode(TC)));

/* One type: the family that every number has. */
#define COMMON(S, T)                                   \
  void __kmpc_atomic_##S##_add(void*, int, T*, T);     \
  void __kmpc_atomic_##S##_sub(void*, int, T*, T);     \
  void __kmpc_atomic_##S##_mul(void*, int, T*, T);     \
  void __kmpc_atomic_##S##_div(void*, int, T*, T);     \
  void __kmpc_atomic_##S##_sub_rev(void*, int, T*, T); \
  void __kmpc_atomic_##S##_div_rev(void*, int, T*, T); \
  T __kmpc_atomic_##S##_rd(void*, int, T*);            \
  void __kmpc_atomic_##S##_wr(void*, int, T*, T);      \
  static void common_##S(void) {                       \
    T x = 20;                                          \
    __kmpc_atomic_##S##_add(0, 0, &x, 4);              \
    CHECK(x == 24);                                    \
    __kmpc_atomic_##S##_sub(0, 0, &x, 3);              \
    CHECK(x == 21);                                    \
    __kmpc_atomic_##S##_mul(0, 0, &x, 2);              \
    CHECK(x == 42);                                    \
    __kmpc_atomic_##S##_div(0, 0, &x, 7);              \
    CHECK(x == 6);                                     \
    __kmpc_atomic_##S##_sub_rev(0, 0, &x, 10);         \
    CHECK(x == 4);                                     \
    __kmpc_atomic_##S##_div_rev(0, 0, &x, 40);         \
    CHECK(x == 10);                                    \
    CHECK(__kmpc_atomic_##S##_rd(0, 0, &x) == 10);     \
    __kmpc_atomic_##S##_wr(0, 0, &x, 77);              \
    CHECK(x == 77);                                    \
  }

#define CAPTURES(S, T)                                                                         \
  T __kmpc_atomic_##S##_add_cpt(void*, int, T*, T, int);                                       \
  T __kmpc_atomic_##S##_sub_cpt_rev(void*, int, T*, T, int);                                   \
  T __kmpc_atomic_##S##_div_cpt_rev(void*, int, T*, T, int);                                   \
  T __kmpc_atomic_##S##_swp(void*, int, T*, T);                                                \
  static void captures_##S(void) {                                                             \
    T x = 20;                                                                                  \
    CHECK(__kmpc_atomic_##S##_add_cpt(0, 0, &x, 2, 1) == 22);                                  \
    CHECK(__kmpc_atomic_##S##_add_cpt(0, 0, &x, 2, 0) == 22 && x == 24);                       \
    CHECK(__kmpc_atomic_##S##_sub_cpt_rev(0, 0, &x, 30, 1) == 6);                              \
    CHECK(__kmpc_atomic_##S##_div_cpt_rev(0, 0, &x, 60, 0) == 6 && x == 10);                   \
    CHECK(__kmpc_atomic_##S##_swp(0, 0, &x, 3) == 10 && x == 3);                               \
  }                                                                                            \
  static T shared_##S;                                                                         \
  static void* hammer_##S(void* unused) {                                                      \
    for (int i = 0; i < kTurns; ++i) __kmpc_atomic_##S##_add_cpt(0, 0, &shared_##S, 1, i & 1); \
    return unused;                                                                             \
  }

#define MINMAX(S, T)                                                      \
  void __kmpc_atomic_##S##_min(void*, int, T*, T);                        \
  void __kmpc_atomic_##S##_max(void*, int, T*, T);                        \
  T __kmpc_atomic_##S##_max_cpt(void*, int, T*, T, int);                  \
  static void minmax_##S(void) {                                          \
    T x = 20;                                                             \
    __kmpc_atomic_##S##_min(0, 0, &x, 30);                                \
    CHECK(x == 20);                                                       \
    __kmpc_atomic_##S##_min(0, 0, &x, 10);                                \
    CHECK(x == 10);                                                       \
    __kmpc_atomic_##S##_max(0, 0, &x, 5);                                 \
    CHECK(x == 10);                                                       \
    CHECK(__kmpc_atomic_##S##_max_cpt(0, 0, &x, 15, 0) == 10 && x == 15); \
  }

#define BITS(S, T, U)                                          \
  void __kmpc_atomic_##S##_andb(void*, int, T*, T);            \
  void __kmpc_atomic_##S##_orb(void*, int, T*, T);             \
  void __kmpc_atomic_##S##_xor(void*, int, T*, T);             \
  void __kmpc_atomic_##S##_andl(void*, int, T*, T);            \
  void __kmpc_atomic_##S##_orl(void*, int, T*, T);             \
  void __kmpc_atomic_##S##_eqv(void*, int, T*, T);             \
  void __kmpc_atomic_##S##_neqv(void*, int, T*, T);            \
  void __kmpc_atomic_##S##_shl(void*, int, T*, T);             \
  void __kmpc_atomic_##S##_shr(void*, int, T*, T);             \
  void __kmpc_atomic_##S##_shl_rev(void*, int, T*, T);         \
  void __kmpc_atomic_##S##u_shr(void*, int, U*, U);            \
  void __kmpc_atomic_##S##u_div(void*, int, U*, U);            \
  void __kmpc_atomic_##S##_mul_float8(void*, int, T*, double); \
  void __kmpc_atomic_##S##_add_fp(void*, int, T*, quad);       \
  static void bits_##S(void) {                                 \
    T x = 0x5c;                                                \
    __kmpc_atomic_##S##_andb(0, 0, &x, 0x3f);                  \
    CHECK(x == 0x1c);                                          \
    __kmpc_atomic_##S##_orb(0, 0, &x, 0x21);                   \
    CHECK(x == 0x3d);                                          \
    __kmpc_atomic_##S##_xor(0, 0, &x, 0x0f);                   \
    CHECK(x == 0x32);                                          \
    __kmpc_atomic_##S##_eqv(0, 0, &x, 0x0f);                   \
    CHECK(x == (T) ~(0x32 ^ 0x0f));                            \
    __kmpc_atomic_##S##_neqv(0, 0, &x, -1);                    \
    CHECK(x == (0x32 ^ 0x0f));                                 \
    __kmpc_atomic_##S##_andl(0, 0, &x, 8);                     \
    CHECK(x == 1);                                             \
    __kmpc_atomic_##S##_andl(0, 0, &x, 0);                     \
    CHECK(x == 0);                                             \
    __kmpc_atomic_##S##_orl(0, 0, &x, 4);                      \
    CHECK(x == 1);                                             \
    __kmpc_atomic_##S##_shl(0, 0, &x, 5);                      \
    CHECK(x == 32);                                            \
    __kmpc_atomic_##S##_shr(0, 0, &x, 4);                      \
    CHECK(x == 2);                                             \
    __kmpc_atomic_##S##_shl_rev(0, 0, &x, 3);                  \
    CHECK(x == 12);                                            \
    x = -8;                                                    \
    __kmpc_atomic_##S##_shr(0, 0, &x, 1);                      \
    CHECK(x == -4);                                            \
    U u = (U) - 8;                                             \
    __kmpc_atomic_##S##u_shr(0, 0, &u, 1);                     \
    CHECK(u == (U)((U) - 8 >> 1));                             \
    u = (U) - 6;                                               \
    __kmpc_atomic_##S##u_div(0, 0, &u, 2);                     \
    CHECK(u == (U)((U) - 6 / 2));                              \
    x = 10;                                                    \
    __kmpc_atomic_##S##_mul_float8(0, 0, &x, 2.55);            \
    CHECK(x == 25);                                            \
    __kmpc_atomic_##S##_add_fp(0, 0, &x, 1.75Q);               \
    CHECK(x == 26);                                            \
  }

#define COMPARE(B, T)                                                                          \
  _Bool __kmpc_atomic_bool_##B##_cas(void*, int, T*, T, T);                                    \
  T __kmpc_atomic_val_##B##_cas(void*, int, T*, T, T);                                         \
  _Bool __kmpc_atomic_bool_##B##_cas_cpt(void*, int, T*, T, T, T*);                            \
  T __kmpc_atomic_val_##B##_cas_cpt(void*, int, T*, T, T, T*);                                 \
  static void compare_##B(void) {                                                              \
    T x = 5, seen = 99;                                                                        \
    CHECK(!__kmpc_atomic_bool_##B##_cas(0, 0, &x, 4, 6) && x == 5);                            \
    CHECK(__kmpc_atomic_bool_##B##_cas(0, 0, &x, 5, 6) && x == 6);                             \
    CHECK(__kmpc_atomic_val_##B##_cas(0, 0, &x, 5, 7) == 6 && x == 6);                         \
    CHECK(__kmpc_atomic_bool_##B##_cas_cpt(0, 0, &x, 6, 7, &seen) && seen == 99);              \
    CHECK(!__kmpc_atomic_bool_##B##_cas_cpt(0, 0, &x, 6, 8, &seen) && seen == 7);              \
    CHECK(__kmpc_atomic_val_##B##_cas_cpt(0, 0, &x, 7, 8, &seen) == 7 && seen == 8);           \
    CHECK(__kmpc_atomic_val_##B##_cas_cpt(0, 0, &x, 7, 9, &seen) == 8 && seen == 8 && x == 8); \
  }

#define INTEGER(S, T, U) COMMON(S, T) CAPTURES(S, T) MINMAX(S, T) BITS(S, T, U)
INTEGER(fixed1, int8_t, uint8_t)
INTEGER(fixed2, int16_t, uint16_t)
INTEGER(fixed4, int32_t, uint32_t)
INTEGER(fixed8, int64_t, uint64_t)
#define REAL(S, T) COMMON(S, T) CAPTURES(S, T) MINMAX(S, T)
REAL(float4, float)
REAL(float8, double)
REAL(float10, long double)
REAL(float16, quad)
COMMON(cmplx4, c4)
COMMON(cmplx8, c8)
COMMON(cmplx10, c10)
COMMON(cmplx16, c16)
CAPTURES(cmplx8, c8)
CAPTURES(cmplx10, c10)
CAPTURES(cmplx16, c16)
COMPARE(1, int8_t)
COMPARE(2, int16_t)
COMPARE(4, int32_t)
COMPARE(8, int64_t)

void __kmpc_atomic_cmplx4_add_cpt(void*, int, c4*, c4, c4*, int);
void __kmpc_atomic_cmplx4_swp(void*, int, c4*, c4, c4*);
void __kmpc_atomic_cmplx4_mul_cmplx8(void*, int, c4*, c8);
void __kmpc_atomic_float4_add_float8(void*, int, float*, double);
typedef void combine(void*, void*, void*);
void __kmpc_atomic_4(void*, int, void*, void*, combine*);
void __kmpc_atomic_8(void*, int, void*, void*, combine*);
void __kmpc_atomic_16(void*, int, void*, void*, combine*);
void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

static void add4(void* out, void* a, void* b) { *(int32_t*)out = *(int32_t*)a + *(int32_t*)b; }
static void add8(void* out, void* a, void* b) { *(double*)out = *(double*)a + *(double*)b; }
static void add16(void* out, void* a, void* b) { *(quad*)out = *(quad*)a + *(quad*)b; }

static int32_t sized4;
static double sized8;
static quad sized16;
static long double both; /* under the lock for atomics, reached by three ways */
static void* hammer_sized(void* unused) {
  int32_t one4 = 1;
  double one8 = 1;
  quad one16 = 1;
  for (int i = 0; i < kTurns; ++i) {
    __kmpc_atomic_4(0, 0, &sized4, &one4, add4);
    __kmpc_atomic_8(0, 0, &sized8, &one8, add8);
    __kmpc_atomic_16(0, 0, &sized16, &one16, add16);
    if (i % 3 == 0) {
      GOMP_atomic_start();
      both += 1;
      GOMP_atomic_end();
    } else if (i % 3 == 1) {
      __kmpc_atomic_start();
      both += 1;
      __kmpc_atomic_end();
    } else {
      __kmpc_atomic_float10_add(0, 0, &both, 1);
    }
  }
  return unused;
}

static void in_threads(void* (*work)(void*)) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

#define RUN_INTEGER(S) common_##S(), captures_##S(), minmax_##S(), bits_##S()
#define RUN_REAL(S) common_##S(), captures_##S(), minmax_##S()
#define HAMMER(S, T)      \
  in_threads(hammer_##S); \
  CHECK(shared_##S == (T)(kThreads * kTurns))

int main(void) {
  RUN_INTEGER(fixed1);
  RUN_INTEGER(fixed2);
  RUN_INTEGER(fixed4);
  RUN_INTEGER(fixed8);
  RUN_REAL(float4);
  RUN_REAL(float8);
  RUN_REAL(float10);
  RUN_REAL(float16);
  common_cmplx4(), common_cmplx8(), common_cmplx10(), common_cmplx16();
  captures_cmplx8(), captures_cmplx10(), captures_cmplx16();
  compare_1(), compare_2(), compare_4(), compare_8();

  c4 small = 1 + 2 * I, out = 0;
  __kmpc_atomic_cmplx4_add_cpt(0, 0, &small, 1 + 1 * I, &out, 0);
  CHECK(out == 1 + 2 * I && small == 2 + 3 * I);
  __kmpc_atomic_cmplx4_swp(0, 0, &small, 2, &out);
  CHECK(out == 2 + 3 * I && small == 2);
  __kmpc_atomic_cmplx4_mul_cmplx8(0, 0, &small, 2 * I);
  CHECK(small == 4 * I);
  float single = 1;
  __kmpc_atomic_float4_add_float8(0, 0, &single, 0.5);
  CHECK(single == 1.5f);

  HAMMER(fixed1, int8_t);
  HAMMER(fixed2, int16_t);
  HAMMER(fixed4, int32_t);
  HAMMER(fixed8, int64_t);
  HAMMER(float4, float);
  HAMMER(float8, double);
  HAMMER(float10, long double);
  HAMMER(float16, quad);
  HAMMER(cmplx8, c8);
  HAMMER(cmplx10, c10);
  HAMMER(cmplx16, c16);
  in_threads(hammer_sized);
  CHECK(sized4 == kThreads * kTurns && sized8 == kThreads * kTurns && sized16 == kThreads * kTurns);
  CHECK(both == kThreads * kTurns);
  printf("right\n");
  return 0;
}
