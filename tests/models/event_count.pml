/* The wake-up protocol of src/runtime/sync/event_count.h: two waiters sleep until their conditions hold, two notifiers make them true.
 *
 * First with notify_all(): each waiter has a condition of its own. Then, in the second half, with notify_one(): a condition is an
 * item that either waiter may take.
 *
 * Spin itself is sequentially consistent, so what a weakly ordered machine may delay is spelt out: every plain store first goes into
 * its process's buffer and reaches memory later, at a moment that the checker chooses. A fence, and an increment with release
 * order, waits until the own buffer is empty. Each order of the C++ code can be deleted by a macro; tests/models/run checks that
 * the model then finds a waiter that sleeps for ever (an invalid end state).
 */
#define WAITERS 2
#define PROCS 4

#define COND 0       /* and 1 */
#define ANNOUNCED 2
#define WORD 3
byte mem[4];

/* Buffers of two entries: address and what to store. */
byte addr0[PROCS], value0[PROCS];
byte addr1[PROCS], value1[PROCS];
byte pending[PROCS];
bool asleep[WAITERS];
bool one;
byte finished;

inline flush_one(p) {
  atomic {
    pending[p] > 0;
    mem[addr0[p]] = value0[p];
    addr0[p] = addr1[p]; value0[p] = value1[p];
    addr1[p] = 0; value1[p] = 0;
    pending[p]--
  }
}

inline store(p, a, v) {
  atomic {
    pending[p] < 2;
    if
    :: pending[p] == 0 -> addr0[p] = a; value0[p] = v
    :: else -> addr1[p] = a; value1[p] = v
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

/* The condition of this waiter: its own, or any item, which it then takes. */
inline look() {
  atomic {
    met = false;
    if
    :: !one -> met = mem[COND + me] == 1
    :: one && mem[COND] == 1 -> mem[COND] = 0; met = true
    :: one && mem[COND] == 0 && mem[COND + 1] == 1 -> mem[COND + 1] = 0; met = true
    :: else -> skip
    fi
  }
}

proctype waiter(byte me) {
  byte key;
  bool met;
  do
  :: look();
    if
    :: met -> break
    :: else ->
#ifdef NO_KEY_FIRST
      store(me, ANNOUNCED, 1);
      key = mem[WORD];
#endif
#ifndef NO_KEY_FIRST
      key = mem[WORD];                            /* announce() */
      store(me, ANNOUNCED, 1);
#endif
#ifndef NO_FENCE_ANNOUNCE
      fence(me);
#endif
      look();
      if
      :: met -> break
      :: else ->
        atomic {                                  /* commit(): the kernel compares and queues in one step */
          if
          :: mem[WORD] == key -> asleep[me] = true
          :: else -> skip
          fi
        };
        !asleep[me]
      fi
    fi
  od;
  finished++
}

inline wake_all() {
  store(me, ANNOUNCED, 0);
#ifndef NO_RELEASE
  fence(me);
#endif
  atomic { mem[WORD] = mem[WORD] + 1 };
  atomic { asleep[0] = false; asleep[1] = false }
}

proctype notifier(byte me) {
  bool woke;
  store(me, COND + me - WAITERS, 1);              /* the caller makes its condition true */
#ifndef NO_FENCE_NOTIFY
  fence(me);
#endif
  if
  :: mem[ANNOUNCED] == 0 -> skip
  :: else ->
    if
    :: one ->
      atomic { mem[WORD] = mem[WORD] + 1 };
      atomic {
        woke = true;
        if
        :: asleep[0] -> asleep[0] = false
        :: asleep[1] -> asleep[1] = false
        :: !asleep[0] && !asleep[1] -> woke = false
        fi
      };
      if
      :: woke -> skip
      :: else -> wake_all()
      fi
    :: else -> wake_all()
    fi
  fi;
  finished++
}

init {
  atomic {
    if
    :: one = false
    :: one = true
    fi;
    run waiter(0); run waiter(1); run notifier(2); run notifier(3)
  };
  finished == 4
}
