/* The deque of src/runtime/task/deque.h: an owner that pushes and pops, two thieves that steal. No task may be taken twice, and none
 * may be lost.
 *
 * What a weakly ordered machine may do is spelt out, since Spin is sequentially consistent:
 *  - the owner's stores go through a buffer that memory empties when it likes; pop's fence waits for it;
 *  - without its fence, a thief's two loads (top, bottom) may happen in either order;
 *  - without the release, push's two stores (entry, bottom) may reach memory in either order.
 * Each can be deleted by a macro; tests/models/run checks that the model then fails.
 */
#define TASKS 3
#define NONE 0

byte top, bottom;                 /* bottom as memory has it */
byte entry[8];
byte taken[TASKS + 1];
byte total;
bool owner_done;

/* The owner's view and its store buffer: values of bottom, first in first out. */
byte own_bottom;
byte buf[3];
byte pending;

inline store_bottom(v) {
  atomic {
    pending < 3;
    buf[pending] = v;
    pending++;
    own_bottom = v
  }
}

active proctype buffer() {
end:
  do
  :: atomic { pending > 0; bottom = buf[0]; buf[0] = buf[1]; buf[1] = buf[2]; buf[2] = 0; pending-- }
  od
}

inline take(t) {
  atomic {
    taken[t]++;
    assert(t != NONE);            /* an entry that was read before it was written */
    assert(taken[t] == 1);        /* nobody takes what another has */
    total++
  }
}

inline push(t) {
#ifndef NO_RELEASE_PUSH
  /* the entry is in memory before bottom enters the buffer */
  entry[own_bottom] = t;
  store_bottom(own_bottom + 1)
#else
  if
  :: entry[own_bottom] = t; store_bottom(own_bottom + 1)
  :: store_bottom(own_bottom + 1); entry[own_bottom - 1] = t
  fi
#endif
}

inline pop() {
  if
  :: own_bottom <= top -> skip
  :: else ->
    b = own_bottom - 1;
    task = entry[b];
    store_bottom(b);
#ifndef NO_FENCE_POP
    pending == 0;
#endif
    t = top;
    if
    :: t < b -> take(task)
    :: t == b ->
      atomic {
        if
        :: top == t -> top = t + 1; won = true
        :: else -> won = false
        fi
      };
      if
      :: won -> take(task)
      :: else -> skip
      fi;
      store_bottom(b + 1)
    :: else -> store_bottom(b + 1)
    fi
  fi
}

proctype owner() {
  byte b, t, task;
  bool won;
  push(1);
  push(2);
  pop();
  push(3);
  pop();
  pop();
  pop();
  pending == 0;
  owner_done = true
}

proctype thief() {
  byte t, b, task;
  byte rounds = 0;
  do
  :: rounds < 2 ->
    rounds++;
#ifndef NO_FENCE_STEAL
    t = top;
    b = bottom;
#else
    if
    :: t = top; b = bottom
    :: b = bottom; t = top
    fi;
#endif
    if
    :: t >= b -> skip
    :: else ->
      task = entry[t];
      atomic {
        if
        :: top == t -> top = t + 1
        :: else -> task = NONE + 255
        fi
      };
      if
      :: task == NONE + 255 -> skip
      :: else -> take(task)
      fi
    fi
  :: else -> break
  od
}

init {
  atomic { run owner(); run thief(); run thief() }
  _nr_pr == 2;                    /* everybody but the buffer and this process has ended */
  assert(total + (bottom - top) == TASKS)
}
