/* Waiting across inboxes (src/policy/search.h, src/runtime/task/wait.cpp): one worker at each of two locations, and
 * in each inbox so few tasks that every threshold of stealing forbids to steal them. A, dealt to location 0, waits for its child a
 * in location 1's inbox; B, dealt to location 1, for its child b in location 0's. A waiter may run its own descendants only. C
 * and D, nobody's children, may lie in front of the children.
 *
 * E lies at location 2, where nobody works any more.
 *
 * The protocol: a worker looks at its own inbox, stepping over tasks that it may not run; a waiter's last look before it sleeps
 * goes to the far inbox, too, whatever lies there; an idle worker may leave far tasks alone, for how long is the policy's
 * business, but then it only naps; whoever deals or finishes a task wakes all. Without any one of these tests/models/run finds a
 * worker that sleeps for ever (an invalid end state). The wake-up itself is event_count.pml's.
 */
#define A 0
#define B 1
#define C 2
#define D 3
#define E 6
#define TASKS 7

chan inbox[3] = [TASKS] of { byte };
bool done[TASKS];
byte finished;
byte news;                      /* changes whenever somebody is told */
bool asleep[2];

inline notify() { news++; asleep[0] = false; asleep[1] = false }

inline deal(t, where) {
  atomic {
    inbox[where]!t;
#ifndef NO_WAKE_WHEN_DEALT
    notify()
#else
    skip
#endif
  }
}

inline finish(t) {
  atomic {
    done[t] = true;
    finished++;
#ifndef NO_WAKE_WHEN_FINISHED
    notify()
#else
    skip
#endif
  }
}

/* For a waiter whose only descendant is `wanted`. */
inline take_descendant(where, wanted, got) {
  atomic {
    if
#ifndef NO_STEPPING_OVER
    :: inbox[where]??[eval(wanted)] -> inbox[where]??eval(wanted); got = true
#else
    :: inbox[where]?[eval(wanted)] -> inbox[where]?eval(wanted); got = true
#endif
    :: else -> skip
    fi
  }
}

inline take_any(where, task, got) {
  atomic {
    if
    :: nempty(inbox[where]) -> inbox[where]?task; got = true
    :: else -> skip
    fi
  }
}

/* An idle worker's look at a far inbox, which it may still find too soon. */
inline take_far(where, task, got) {
  atomic {
    if
    :: !got && nempty(inbox[where]) ->
      if
      :: inbox[where]?task; got = true
      :: soon = true
      fi
    :: else -> skip
    fi
  }
}

inline sleep_unless_told(me, key) {
  atomic {
    if
    :: news == key -> asleep[me] = true
    :: else -> skip
    fi
  };
  !asleep[me]
}

inline wait_for(me, wanted) {
  do
  :: done[wanted] -> break
  :: else ->
    key = news;
    got = false;
    take_descendant(me, wanted, got);
#ifndef NO_FAR_LAST_LOOK_OF_WAITERS
    if
    :: !got -> take_descendant(1 - me, wanted, got)
    :: else -> skip
    fi;
#endif
    if
    :: got -> finish(wanted)
    :: else ->
      if
      :: done[wanted] -> break
      :: else -> sleep_unless_told(me, key)
      fi
    fi
  od
}

proctype worker(byte me) {
  byte task, key;
  bool got, soon;
  do
  :: finished == TASKS -> break
  :: else ->
    key = news;
    got = false;
    soon = false;
    take_any(me, task, got);
    take_far(1 - me, task, got);
    take_far(2, task, got);
    if
    :: !got ->
      if
      :: finished == TASKS -> break
#ifndef NO_NAP
      :: finished != TASKS && soon -> skip
#endif
      :: else -> sleep_unless_told(me, key)
      fi
    :: got && task == A -> deal(4, 1); wait_for(me, 4); finish(A)
    :: got && task == B -> deal(5, 0); wait_for(me, 5); finish(B)
    :: else -> finish(task)
    fi
  od
}

init {
  atomic { run worker(0); run worker(1) }
  deal(A, 0); deal(B, 1); deal(C, 0); deal(D, 1); deal(E, 2);
  finished == TASKS
}
