/* The wake-up protocol of src/runtime/event_count.h: two waiters sleep until a condition holds, one notifier makes it true.
 *
 * Spin itself is sequentially consistent, so what a weakly ordered machine may delay is spelt out: every plain store and every
 * relaxed increment first goes into its process's buffer and reaches memory later, at a moment that the checker chooses. A fence
 * waits until the own buffer is empty. Each fence of the C++ code can be deleted by a macro; tests/models/run checks that the
 * model then finds a waiter that sleeps for ever (an invalid end state).
 */
#define WAITERS 2
#define PROCS 3
#define NOTIFIER 2

#define COND 0
#define SLEEPERS 1
#define WORD 2
byte mem[3];

/* Buffers of two entries: address and what to add (a store of 1 to a zero word is an addition here). */
byte addr0[PROCS]; short add0[PROCS];
byte addr1[PROCS]; short add1[PROCS];
byte pending[PROCS];
bool asleep[WAITERS];
byte finished;

#define apply(a, v) mem[a] = mem[a] + v

inline flush_one(p) {
  atomic {
    pending[p] > 0;
    apply(addr0[p], add0[p]);
    addr0[p] = addr1[p]; add0[p] = add1[p];
    addr1[p] = 0; add1[p] = 0;
    pending[p]--
  }
}

inline buffered_add(p, a, v) {
  atomic {
    pending[p] < 2;
    if
    :: pending[p] == 0 -> addr0[p] = a; add0[p] = v
    :: else -> addr1[p] = a; add1[p] = v
    fi;
    pending[p]++
  }
}

inline fence(p) { pending[p] == 0 }

/* Memory takes what is buffered, one entry at a time, whenever it likes. */
active [PROCS] proctype buffer() {
  byte me = _pid;
end:
  do
  :: flush_one(me)
  od
}

proctype waiter(byte me) {
  byte key;
  do
  :: mem[COND] == 1 -> break
  :: else ->
    buffered_add(me, SLEEPERS, 1);              /* announce() */
    key = mem[WORD];
#ifndef NO_FENCE_ANNOUNCE
    fence(me);
#endif
    if
    :: mem[COND] == 1 -> break                  /* cancel() */
    :: else ->
      atomic {                                  /* the kernel compares and queues in one step */
        if
        :: mem[WORD] == key -> asleep[me] = true
        :: else -> skip
        fi
      };
      !asleep[me];
      buffered_add(me, SLEEPERS, -1)
    fi
  od;
  finished++
}

proctype notifier() {
  buffered_add(NOTIFIER, COND, 1);              /* the caller makes the condition true */
#ifndef NO_FENCE_NOTIFY
  fence(NOTIFIER);
#endif
  if
  :: mem[SLEEPERS] == 0 -> skip
  :: else ->
    atomic { mem[WORD] = mem[WORD] + 1 };
    atomic { asleep[0] = false; asleep[1] = false }
  fi;
  finished++
}

init {
  atomic { run waiter(0); run waiter(1); run notifier() }
  finished == 3
}
