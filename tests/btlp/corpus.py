"""Small programs with threads, and the truth about each: written down here before the pass has seen them.

A family is a program with marks for what differs between thread interfaces; flavours() makes real programs of it:
pthreads, C11, std::thread, std::jthread. The truth stands in the program's first lines, one thread each, in order of creation:

    // thread ROUTINE paper=CLASS balanced=CLASS shares-with=ROUTINE,...  parent=ROUTINE

A class is one for both modes where there is one. `shares-with`: with whom it can touch the same bytes, one of them writing;
`main` is a thread, too, and a routine's own name means its instances. `parent`: in the communication tree.
"""
import re

A, S, P = "autonomous", "side-by-side", "postponed"


class Thread:
    def __init__(self, routine, paper, balanced=None, shares=(), parent="main"):
        self.routine, self.paper, self.balanced = routine, paper, balanced or paper
        self.shares, self.parent = tuple(shares), parent

    def line(self):
        return (f"// thread {self.routine} paper={self.paper} balanced={self.balanced} "
                f"shares-with={','.join(self.shares) or '-'} parent={self.parent}")


def T(routine, paper, balanced=None, shares=(), parent="main"):
    return Thread(routine, paper, balanced, shares, parent)


WORK = "  volatile double x = 1; for (int i = 0; i < 1000; i++) x = x * 1.01 + i;\n"
# More objects than one set of pointers of the analysis holds.
MANY_BOXES = ("".join(f"static struct box b{n};\n" for n in range(80)) +
              f"static struct box *const all[80] = {{{', '.join(f'&b{n}' for n in range(80))}}};")
LOCK = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"

# name: (threads, source[, flavours]). Marks: ROUTINE name(void *p), RETURN, HANDLE(h), HANDLES(h, n), CREATE(h, f, a),
# JOIN(h), DETACH(h).
FAMILIES = {
    "alone": ([T("work", A)], f"""
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
int main(void) {{ HANDLE(t); CREATE(t, work, 0); JOIN(t); }}"""),
    "two_alone": ([T("first", A), T("second", A)], f"""
ROUTINE first(void *p) {{ (void)p;
{WORK}  RETURN; }}
ROUTINE second(void *p) {{ (void)p; long s = 0; for (int i = 0; i < 500; i++) s ^= i * 7; printf("%ld\\n", s); RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "result_in_argument": ([T("sum", P, shares=["main"])], """
struct job { int n; long out; };
ROUTINE sum(void *p) { struct job *j = (struct job *)p; long s = 0; for (int i = 0; i < j->n; i++) s += i; j->out = s; RETURN; }
int main(void) { struct job j; j.n = 100; HANDLE(t); CREATE(t, sum, &j); JOIN(t); printf("%ld\\n", j.out); }"""),
    "result_in_global": ([T("sum", P, shares=["main"])], """
static long out;
ROUTINE sum(void *p) { (void)p; long s = 0; for (int i = 0; i < 100; i++) s += i; out = s; RETURN; }
int main(void) { HANDLE(t); CREATE(t, sum, 0); JOIN(t); printf("%ld\\n", out); }"""),
    "input_only": ([T("show", A)], """
struct job { int from, to; };
ROUTINE show(void *p) { struct job *j = (struct job *)p; long s = 0; for (int i = j->from; i < j->to; i++) s += i; printf("%ld\\n", s); RETURN; }
int main(void) { struct job j; j.from = 3; j.to = 90; HANDLE(t); CREATE(t, show, &j); JOIN(t); }"""),
    "told_later": ([T("waiter", P, shares=["main"])], """
static volatile int go;
ROUTINE waiter(void *p) { (void)p; while (!go) sched_yield(); puts("gone"); RETURN; }
int main(void) { HANDLE(t); CREATE(t, waiter, 0); usleep(1000); go = 1; JOIN(t); }"""),
    "shared_counter": ([T("up", S, shares=["down"]), T("down", S, shares=["up"], parent="up")], f"""
{LOCK}static long count;
ROUTINE up(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE down(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); count--; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, up, 0); CREATE(b, down, 0); JOIN(a); JOIN(b); }}"""),
    "producer_consumer": ([T("produce", S, shares=["consume"]), T("consume", S, shares=["produce"], parent="produce")], f"""
{LOCK}static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ring[64]; static int head, tail;
ROUTINE produce(void *p) {{ (void)p; for (int i = 0; i < 500; i++) {{ pthread_mutex_lock(&m); while (head - tail == 64) pthread_cond_wait(&c, &m);
  ring[head++ & 63] = i; pthread_cond_signal(&c); pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE consume(void *p) {{ (void)p; long s = 0; for (int i = 0; i < 500; i++) {{ pthread_mutex_lock(&m); while (head == tail) pthread_cond_wait(&c, &m);
  s += ring[tail++ & 63]; pthread_cond_signal(&c); pthread_mutex_unlock(&m); }} printf("%ld\\n", s); RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, produce, 0); CREATE(b, consume, 0); JOIN(a); JOIN(b); }}"""),
    "pipeline": ([T("read_it", S, shares=["double_it"]), T("double_it", S, shares=["read_it", "show_it"], parent="read_it"),
                  T("show_it", S, shares=["double_it"], parent="double_it")], """
static int first[256], second[256]; static pthread_barrier_t one, two;
ROUTINE read_it(void *p) { (void)p; for (int i = 0; i < 256; i++) first[i] = i; pthread_barrier_wait(&one); RETURN; }
ROUTINE double_it(void *p) { (void)p; pthread_barrier_wait(&one); for (int i = 0; i < 256; i++) second[i] = 2 * first[i]; pthread_barrier_wait(&two); RETURN; }
ROUTINE show_it(void *p) { (void)p; pthread_barrier_wait(&two); long s = 0; for (int i = 0; i < 256; i++) s += second[i]; printf("%ld\\n", s); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); HANDLE(c); pthread_barrier_init(&one, 0, 2); pthread_barrier_init(&two, 0, 2);
  CREATE(a, read_it, 0); CREATE(b, double_it, 0); CREATE(c, show_it, 0); JOIN(a); JOIN(b); JOIN(c); }"""),
    "constant_table": ([T("even", A), T("odd", A)], """
static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
ROUTINE even(void *p) { (void)p; int s = 0; for (int i = 0; i < 8; i += 2) s += table[i]; printf("%d\\n", s); RETURN; }
ROUTINE odd(void *p) { (void)p; int s = 0; for (int i = 1; i < 8; i += 2) s += table[i]; printf("%d\\n", s); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, even, 0); CREATE(b, odd, 0); JOIN(a); JOIN(b); }"""),
    "filled_before": ([T("least", A), T("most", A)], """
static int table[100];
ROUTINE least(void *p) { (void)p; int r = table[0]; for (int i = 1; i < 100; i++) if (table[i] < r) r = table[i]; printf("%d\\n", r); RETURN; }
ROUTINE most(void *p) { (void)p; int r = table[0]; for (int i = 1; i < 100; i++) if (table[i] > r) r = table[i]; printf("%d\\n", r); RETURN; }
int main(void) { for (int i = 0; i < 100; i++) table[i] = i * 37 % 101; HANDLE(a); HANDLE(b); CREATE(a, least, 0); CREATE(b, most, 0); JOIN(a); JOIN(b); }"""),
    "loop_alone": ([T("work", S, A)], f"""
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
int main(void) {{ HANDLES(t, 4); for (int i = 0; i < 4; i++) CREATE(t[i], work, 0); for (int i = 0; i < 4; i++) JOIN(t[i]); }}"""),
    "loop_counter": ([T("work", S, shares=["work"])], f"""
{LOCK}static long count;
ROUTINE work(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ HANDLES(t, 4); for (int i = 0; i < 4; i++) CREATE(t[i], work, 0); for (int i = 0; i < 4; i++) JOIN(t[i]); }}"""),
    "loop_weak": ([T("work", S, A, shares=["work", "main"])], f"""
{LOCK}static long total;
ROUTINE work(void *p) {{ (void)p; long s = 0; for (int i = 0; i < 1000; i++) s += i * i % 7; pthread_mutex_lock(&m); total += s; pthread_mutex_unlock(&m); RETURN; }}
int main(void) {{ HANDLES(t, 4); for (int i = 0; i < 4; i++) CREATE(t[i], work, 0); for (int i = 0; i < 4; i++) JOIN(t[i]); printf("%ld\\n", total); }}"""),
    "loop_index": ([T("work", S, A, shares=["main"])], """
static long out[4];
ROUTINE work(void *p) { long id = (long)p; for (int i = 0; i < 1000; i++) out[id] += i; RETURN; }
int main(void) { HANDLES(t, 4); for (long i = 0; i < 4; i++) CREATE(t[i], work, (void *)i); for (int i = 0; i < 4; i++) JOIN(t[i]); printf("%ld\\n", out[2]); }"""),
    "loop_slices": ([T("work", S, A, shares=["main"])], """
static int data[1000]; struct slice { int lo, hi; }; static struct slice slices[4];
ROUTINE work(void *p) { struct slice *s = (struct slice *)p; for (int i = s->lo; i < s->hi; i++) data[i] = i * 3; RETURN; }
int main(void) { HANDLES(t, 4); for (int i = 0; i < 4; i++) { slices[i].lo = i * 250; slices[i].hi = (i + 1) * 250; CREATE(t[i], work, &slices[i]); }
  for (int i = 0; i < 4; i++) JOIN(t[i]); printf("%d\\n", data[999]); }"""),
    "loop_divided": ([T("work", S, A, shares=["main"])], """
enum { N = 1000, THREADS = 4 }; static int data[N];
ROUTINE work(void *p) { long id = (long)p; int lo = id * N / THREADS, hi = (id + 1) * N / THREADS; for (int i = lo; i < hi; i++) data[i] = i; RETURN; }
int main(void) { HANDLES(t, THREADS); for (long i = 0; i < THREADS; i++) CREATE(t[i], work, (void *)i);
  for (int i = 0; i < THREADS; i++) JOIN(t[i]); printf("%d\\n", data[17]); }"""),
    "loop_own_results": ([T("work", S, A, shares=["main"])], """
struct job { int id; long out; };
ROUTINE work(void *p) { struct job *j = (struct job *)p; long s = 0; for (int i = 0; i < 1000; i++) s += i ^ j->id; j->out = s; RETURN; }
int main(void) { HANDLES(t, 4); struct job jobs[4]; for (int i = 0; i < 4; i++) { jobs[i].id = i; CREATE(t[i], work, &jobs[i]); }
  long s = 0; for (int i = 0; i < 4; i++) { JOIN(t[i]); s += jobs[i].out; } printf("%ld\\n", s); }"""),
    "loop_heap": ([T("work", S, A)], """
struct job { int id; long scratch[8]; };
ROUTINE work(void *p) { struct job *j = (struct job *)p; for (int i = 0; i < 1000; i++) j->scratch[i & 7] += j->id; printf("%ld\\n", j->scratch[3]); free(j); RETURN; }
int main(void) { HANDLES(t, 4); for (int i = 0; i < 4; i++) { struct job *j = (struct job *)calloc(1, sizeof *j); j->id = i; CREATE(t[i], work, j); }
  for (int i = 0; i < 4; i++) JOIN(t[i]); }"""),
    "loop_cyclic": ([T("work", S, A, shares=["main"])], """
enum { N = 1000, THREADS = 4 }; static int data[N];
ROUTINE work(void *p) { long id = (long)p; for (long i = id; i < N; i += THREADS) data[i] = (int)i; RETURN; }
int main(void) { HANDLES(t, THREADS); for (long i = 0; i < THREADS; i++) CREATE(t[i], work, (void *)i);
  for (int i = 0; i < THREADS; i++) JOIN(t[i]); printf("%d\\n", data[17]); }"""),
    "loop_neighbours": ([T("work", S, shares=["work", "main"])], """
static long out[5];
ROUTINE work(void *p) { long id = (long)p; for (int i = 0; i < 1000; i++) { out[id] += i; out[id + 1] -= i; } RETURN; }
int main(void) { HANDLES(t, 4); for (long i = 0; i < 4; i++) CREATE(t[i], work, (void *)i); for (int i = 0; i < 4; i++) JOIN(t[i]); printf("%ld\\n", out[2]); }"""),
    "loop_one_object": ([T("work", S, shares=["work"])], f"""
{LOCK}struct state {{ long a, b; }};
ROUTINE work(void *p) {{ struct state *s = (struct state *)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); s->a += s->b; s->b ^= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ HANDLES(t, 4); struct state s = {{1, 2}}; for (int i = 0; i < 4; i++) CREATE(t[i], work, &s); for (int i = 0; i < 4; i++) JOIN(t[i]); }}"""),
    "nested": ([T("outer", S), T("inner", P, parent="outer")], f"""
ROUTINE inner(void *p) {{ (void)p;
{WORK}  RETURN; }}
ROUTINE outer(void *p) {{ (void)p; HANDLE(t); CREATE(t, inner, 0);
{WORK}  JOIN(t); RETURN; }}
int main(void) {{ HANDLE(t); CREATE(t, outer, 0); JOIN(t); }}"""),
    "nested_loop": ([T("outer", S), T("inner", S, A, parent="outer")], f"""
ROUTINE inner(void *p) {{ (void)p;
{WORK}  RETURN; }}
ROUTINE outer(void *p) {{ (void)p; HANDLES(t, 3); for (int i = 0; i < 3; i++) CREATE(t[i], inner, 0); for (int i = 0; i < 3; i++) JOIN(t[i]); RETURN; }}
int main(void) {{ HANDLE(t); CREATE(t, outer, 0); JOIN(t); }}"""),
    "nested_result": ([T("outer", S, shares=["inner"]), T("inner", P, shares=["outer"], parent="outer")], """
struct job { long out; };
ROUTINE inner(void *p) { struct job *j = (struct job *)p; long s = 0; for (int i = 0; i < 99; i++) s += i; j->out = s; RETURN; }
ROUTINE outer(void *p) { (void)p; struct job j; HANDLE(t); CREATE(t, inner, &j); JOIN(t); printf("%ld\\n", j.out); RETURN; }
int main(void) { HANDLE(t); CREATE(t, outer, 0); JOIN(t); }"""),
    "wrapper": ([T("first", A), T("second", A)], f"""
ROUTINE first(void *p) {{ (void)p;
{WORK}  RETURN; }}
ROUTINE second(void *p) {{ (void)p; puts("second"); RETURN; }}
static void spawn(HANDLE_TYPE *t, ROUTINE_POINTER(f), void *a) {{ CREATE(*t, f, a); }}
int main(void) {{ HANDLE(a); HANDLE(b); spawn(&a, first, 0); spawn(&b, second, 0); JOIN(a); JOIN(b); }}"""),
    "wrapper_of_wrapper": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static long both;
ROUTINE first(void *p) {{ (void)p; for (int i = 0; i < 100; i++) {{ pthread_mutex_lock(&m); both += 2; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 100; i++) {{ pthread_mutex_lock(&m); both -= 3; pthread_mutex_unlock(&m); }} RETURN; }}
static void spawn(HANDLE_TYPE *t, ROUTINE_POINTER(f), void *a) {{ CREATE(*t, f, a); }}
static void start(HANDLE_TYPE *t, ROUTINE_POINTER(f)) {{ puts("start"); spawn(t, f, 0); }}
int main(void) {{ HANDLE(a); HANDLE(b); start(&a, first); start(&b, second); JOIN(a); JOIN(b); }}"""),
    "wrapper_in_loop": ([T("work", S, A)], f"""
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
static void spawn(HANDLE_TYPE *t, ROUTINE_POINTER(f)) {{ CREATE(*t, f, 0); }}
int main(void) {{ HANDLES(t, 4); for (int i = 0; i < 4; i++) spawn(&t[i], work); for (int i = 0; i < 4; i++) JOIN(t[i]); }}"""),
    "function_array": ([T("red", S, A), T("green", S, A), T("blue", S, A)], f"""
ROUTINE red(void *p) {{ (void)p;
{WORK}  RETURN; }}
ROUTINE green(void *p) {{ (void)p; puts("green"); RETURN; }}
ROUTINE blue(void *p) {{ (void)p; puts("blue"); RETURN; }}
static ROUTINE_POINTER((*const table[3])) = {{red, green, blue}};
int main(void) {{ HANDLES(t, 3); for (int i = 0; i < 3; i++) CREATE(t[i], table[i], 0); for (int i = 0; i < 3; i++) JOIN(t[i]); }}"""),
    "through_a_struct": ([T("work", A)], f"""
struct ops {{ ROUTINE_POINTER((*run)); int priority; }};
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
int main(void) {{ struct ops o; o.run = work; o.priority = 3; struct ops *q = &o; HANDLE(t); CREATE(t, q->run, 0); JOIN(t); }}"""),
    "loop_of_one": ([T("work", A)], f"""
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
int main(void) {{ HANDLES(t, 1); for (int i = 0; i < 1; i++) CREATE(t[i], work, 0); for (int i = 0; i < 1; i++) JOIN(t[i]); }}"""),
    "in_a_branch": ([T("work", A)], f"""
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
int main(int argc, char **argv) {{ (void)argv; HANDLE(t); if (argc < 5) {{ CREATE(t, work, 0); JOIN(t); }} }}"""),
    "detached": ([T("work", A)], f"""
ROUTINE work(void *p) {{ (void)p;
{WORK}  RETURN; }}
int main(void) {{ HANDLE(t); CREATE(t, work, 0); DETACH(t); usleep(1000); }}"""),
    "two_fields": ([T("left", P, shares=["main"]), T("right", P, shares=["main"])], """
static struct { long a, b; } both;
ROUTINE left(void *p) { (void)p; for (int i = 0; i < 100; i++) both.a += i; RETURN; }
ROUTINE right(void *p) { (void)p; for (int i = 0; i < 100; i++) both.b += 2 * i; RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, left, 0); CREATE(b, right, 0); JOIN(a); JOIN(b); printf("%ld\\n", both.a + both.b); }"""),
    "one_routine_two_objects": ([T("sum", P, shares=["main"]), T("sum", P, shares=["main"])], """
struct job { int n; long out; };
ROUTINE sum(void *p) { struct job *j = (struct job *)p; j->out = 0; for (int i = 0; i < j->n; i++) j->out += i; RETURN; }
int main(void) { struct job a, b; a.n = 10; b.n = 20; HANDLE(x); HANDLE(y); CREATE(x, sum, &a); CREATE(y, sum, &b); JOIN(x); JOIN(y); printf("%ld\\n", a.out + b.out); }"""),
    "one_routine_one_object": ([T("add", S, shares=["add", "main"]), T("add", S, shares=["add", "main"], parent="add")], f"""
{LOCK}struct job {{ int n; long out; }};
ROUTINE add(void *p) {{ struct job *j = (struct job *)p; for (int i = 0; i < j->n; i++) {{ pthread_mutex_lock(&m); j->out += i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ struct job j; j.n = 10; j.out = 0; HANDLE(x); HANDLE(y); CREATE(x, add, &j); CREATE(y, add, &j); JOIN(x); JOIN(y); printf("%ld\\n", j.out); }}"""),
    "one_after_the_other": ([T("make", S, shares=["use"]), T("use", S, shares=["make"], parent="make")], """
static int box[100];
ROUTINE make(void *p) { (void)p; for (int i = 0; i < 100; i++) box[i] = i; RETURN; }
ROUTINE use(void *p) { (void)p; long s = 0; for (int i = 0; i < 100; i++) s += box[i]; printf("%ld\\n", s); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, make, 0); JOIN(a); CREATE(b, use, 0); JOIN(b); }"""),
    "read_then_reused": ([T("look", A), T("fill", A)], """
static int box[100];
ROUTINE look(void *p) { (void)p; long s = 0; for (int i = 0; i < 100; i++) s += box[i]; printf("%ld\\n", s); RETURN; }
ROUTINE fill(void *p) { (void)p; for (int i = 0; i < 100; i++) box[i] = i; RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, look, 0); JOIN(a); CREATE(b, fill, 0); JOIN(b); }"""),
    "thread_local_data": ([T("first", A), T("second", A)], """
static THREAD_LOCAL long mine;
ROUTINE first(void *p) { (void)p; for (int i = 0; i < 100; i++) mine += i; printf("%ld\\n", mine); RETURN; }
ROUTINE second(void *p) { (void)p; for (int i = 0; i < 100; i++) mine -= i; printf("%ld\\n", mine); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "two_elements": ([T("first", A), T("second", A)], """
static long out[2];
ROUTINE first(void *p) { (void)p; for (int i = 0; i < 100; i++) out[0] += i; printf("%ld\\n", out[0]); RETURN; }
ROUTINE second(void *p) { (void)p; for (int i = 0; i < 100; i++) out[1] += i; printf("%ld\\n", out[1]); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "two_halves": ([T("low", A), T("high", P, shares=["main"])], """
static int data[200];
ROUTINE low(void *p) { (void)p; for (int i = 0; i < 100; i++) data[i] = i; RETURN; }
ROUTINE high(void *p) { (void)p; for (int i = 100; i < 200; i++) data[i] = i; RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, low, 0); CREATE(b, high, 0); JOIN(a); JOIN(b); printf("%d\\n", data[150]); }"""),
    "one_element": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], """
static volatile long out[2];
ROUTINE first(void *p) { (void)p; for (int i = 0; i < 100; i++) out[1] += i; RETURN; }
ROUTINE second(void *p) { (void)p; for (int i = 0; i < 100; i++) out[1] -= i; RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "generations": ([T("grow", S), T("grow", S, parent="grow")], f"""
ROUTINE grow(void *p) {{ long depth = (long)p;
{WORK}  if (depth > 0) {{ HANDLE(t); CREATE(t, grow, (void *)(depth - 1)); JOIN(t); }} RETURN; }}
int main(void) {{ HANDLE(t); CREATE(t, grow, (void *)3L); JOIN(t); }}"""),
    "helper_apart": ([T("first", A), T("second", A)], """
static long one, two;
static void add(long *where, int n) { for (int i = 0; i < n; i++) *where += i; }
ROUTINE first(void *p) { (void)p; add(&one, 100); printf("%ld\\n", one); RETURN; }
ROUTINE second(void *p) { (void)p; add(&two, 200); printf("%ld\\n", two); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "helper_together": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static long one;
static void add(long *where, int n) {{ for (int i = 0; i < n; i++) {{ pthread_mutex_lock(&m); *where += i; pthread_mutex_unlock(&m); }} }}
ROUTINE first(void *p) {{ (void)p; add(&one, 100); RETURN; }}
ROUTINE second(void *p) {{ (void)p; add(&one, 200); RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "recursive_helper": ([T("first", A), T("second", A)], """
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
ROUTINE first(void *p) { (void)p; printf("%d\\n", fib(15)); RETURN; }
ROUTINE second(void *p) { (void)p; printf("%d\\n", fib(16)); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "atomic_counter": ([T("first", S, shares=["second", "main"]), T("second", S, shares=["first", "main"], parent="first")], """
static long count;
ROUTINE first(void *p) { (void)p; for (int i = 0; i < 100; i++) __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); RETURN; }
ROUTINE second(void *p) { (void)p; for (int i = 0; i < 100; i++) __atomic_fetch_add(&count, 2, __ATOMIC_RELAXED); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); printf("%ld\\n", count); }"""),
    "list": ([T("push", S, shares=["pop"]), T("pop", S, shares=["push"], parent="push")], f"""
{LOCK}struct node {{ struct node *next; int value; }}; static struct node *top;
ROUTINE push(void *p) {{ (void)p; for (int i = 0; i < 100; i++) {{ struct node *n = (struct node *)malloc(sizeof *n); n->value = i; pthread_mutex_lock(&m); n->next = top; top = n; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE pop(void *p) {{ (void)p; long s = 0; for (int i = 0; i < 100; i++) {{ pthread_mutex_lock(&m); struct node *n = top; if (n) top = n->next; pthread_mutex_unlock(&m); if (n) {{ s += n->value; free(n); }} }} printf("%ld\\n", s); RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, push, 0); CREATE(b, pop, 0); JOIN(a); JOIN(b); }}"""),
    "heap_buffer": ([T("writer", S, shares=["reader"]), T("reader", S, shares=["writer"], parent="writer")], """
struct job { int *buffer; int n; };
ROUTINE writer(void *p) { struct job *j = (struct job *)p; for (int i = 0; i < j->n; i++) j->buffer[i] = i; RETURN; }
ROUTINE reader(void *p) { struct job *j = (struct job *)p; long s = 0; for (int i = 0; i < j->n; i++) s += j->buffer[i]; printf("%ld\\n", s); RETURN; }
int main(void) { int *buffer = (int *)calloc(100, sizeof *buffer); struct job w, r; w.buffer = r.buffer = buffer; w.n = r.n = 100;
  HANDLE(a); HANDLE(b); CREATE(a, writer, &w); CREATE(b, reader, &r); JOIN(a); JOIN(b); free(buffer); }"""),
    "heap_apart": ([T("writer", P, shares=["main"]), T("writer", P, shares=["main"])], """
struct job { int *buffer; int n; };
ROUTINE writer(void *p) { struct job *j = (struct job *)p; for (int i = 0; i < j->n; i++) j->buffer[i] = i; RETURN; }
int main(void) { struct job a, b; a.buffer = (int *)calloc(100, sizeof(int)); b.buffer = (int *)calloc(100, sizeof(int)); a.n = b.n = 100;
  HANDLE(x); HANDLE(y); CREATE(x, writer, &a); CREATE(y, writer, &b); JOIN(x); JOIN(y); printf("%d\\n", a.buffer[3] + b.buffer[4]); }"""),
    "text": ([T("format", P, shares=["main"])], """
struct job { int n; char text[64]; };
ROUTINE format(void *p) { struct job *j = (struct job *)p; snprintf(j->text, sizeof j->text, "n is %d", j->n); RETURN; }
int main(void) { static struct job j; j.n = 4; HANDLE(t); CREATE(t, format, &j); JOIN(t); puts(j.text); }"""),
    "copied_result": ([T("fill", P, shares=["main"])], """
struct big { long v[16]; }; static struct big result;
ROUTINE fill(void *p) { (void)p; struct big b; for (int i = 0; i < 16; i++) b.v[i] = i * i; memcpy(&result, &b, sizeof b); RETURN; }
int main(void) { HANDLE(t); CREATE(t, fill, 0); JOIN(t); printf("%ld\\n", result.v[5]); }"""),
    "three_with_a_pair": ([T("lonely", A), T("ping", S, shares=["pong"]), T("pong", S, shares=["ping"], parent="ping")], f"""
static int turn;
ROUTINE lonely(void *p) {{ (void)p;
{WORK}  RETURN; }}
ROUTINE ping(void *p) {{ (void)p; for (int i = 0; i < 100; i++) {{ while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 0) sched_yield(); __atomic_store_n(&turn, 1, __ATOMIC_RELEASE); }} RETURN; }}
ROUTINE pong(void *p) {{ (void)p; for (int i = 0; i < 100; i++) {{ while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 1) sched_yield(); __atomic_store_n(&turn, 0, __ATOMIC_RELEASE); }} RETURN; }}
int main(void) {{ HANDLE(x); HANDLE(a); HANDLE(b); CREATE(x, lonely, 0); CREATE(a, ping, 0); CREATE(b, pong, 0); JOIN(x); JOIN(a); JOIN(b); }}"""),
    "one_of_many_pointers": ([T("add", S, shares=["take"]), T("take", S, shares=["add"], parent="add")], f"""
{LOCK}static long shared; struct box {{ long *to; long other[3]; }};
{MANY_BOXES}
ROUTINE add(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *b79.to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE take(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(int argc, char **argv) {{ (void)argv; all[argc + 78]->to = &shared;
  HANDLE(a); HANDLE(b); CREATE(a, add, 0); CREATE(b, take, 0); JOIN(a); JOIN(b); }}"""),
    "one_of_many_objects": ([T("waiter", P, shares=["main"])], f"""
struct box {{ volatile int go; long other[3]; }};
{MANY_BOXES}
ROUTINE waiter(void *p) {{ (void)p; while (!b79.go) sched_yield(); puts("gone"); RETURN; }}
int main(int argc, char **argv) {{ (void)argv; HANDLE(t); CREATE(t, waiter, 0); usleep(1000); all[argc + 78]->go = 1; JOIN(t); }}"""),
    "one_of_many_functions": ([T("waiter", P, shares=["main"])], f"""
static volatile int go; static int calls;
{"".join(f"static void f{n}(void) {{ calls += {n}; }}" + chr(10) for n in range(79))}static void f79(void) {{ go = 1; }}
static void (*const all[80])(void) = {{{", ".join(f"f{n}" for n in range(80))}}};
ROUTINE waiter(void *p) {{ (void)p; while (!go) sched_yield(); puts("gone"); RETURN; }}
int main(int argc, char **argv) {{ (void)argv; HANDLE(t); CREATE(t, waiter, 0); usleep(1000); all[argc + 78](); JOIN(t); }}"""),
    "one_of_many_blocks": ([T("add", S, shares=["take"]), T("take", S, shares=["add"], parent="add")], f"""
{LOCK}struct box {{ long n; struct box *next; }}; static struct box *all[80], *given;
static void fill(void) {{ {" ".join(f"all[{n}] = (struct box *)calloc(1, sizeof(struct box));" for n in range(80))} }}
ROUTINE add(void *p) {{ struct box *b = (struct box *)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); b->n += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE take(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); given->next->n -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(int argc, char **argv) {{ (void)argv; fill(); given = all[argc + 77]; given->next = all[argc + 78];
  HANDLE(a); HANDLE(b); CREATE(a, add, all[79]); CREATE(b, take, 0); JOIN(a); JOIN(b); }}"""),
    "one_entry": ([T("entry", S), T("entry", P, parent="entry")], f"""
typedef void (*step)(void);
ROUTINE entry(void *p) {{ ((step)p)(); RETURN; }}
static void spawn(HANDLE_TYPE *t, step s) {{ CREATE(*t, entry, (void *)s); }}
static void second(void) {{
{WORK}}}
static void first(void) {{ HANDLE(t); spawn(&t, second);
{WORK}  JOIN(t); }}
int main(void) {{ HANDLE(t); spawn(&t, first); JOIN(t); }}"""),
    "one_entry_two_pairs": ([T("entry", S, shares=["entry"]), T("entry", S, shares=["entry"], parent="entry"), T("entry", A)], f"""
{LOCK}static long both; typedef void (*step)(void);
ROUTINE entry(void *p) {{ ((step)p)(); RETURN; }}
static void spawn(HANDLE_TYPE *t, step s) {{ CREATE(*t, entry, (void *)s); }}
static void up(void) {{ for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); both++; pthread_mutex_unlock(&m); }} }}
static void down(void) {{ for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); both--; pthread_mutex_unlock(&m); }} }}
static void apart(void) {{
{WORK}}}
int main(void) {{ HANDLE(a); HANDLE(b); HANDLE(c); spawn(&a, up); spawn(&b, down); spawn(&c, apart); JOIN(a); JOIN(b); JOIN(c); }}"""),
    "heirs": ([T("first", S), T("work", S, shares=["work"], parent="first"), T("work", S, shares=["work"], parent="work")], f"""
{LOCK}static long sums[2]; struct job {{ int level; long *sum; }};
ROUTINE work(void *p);
static void spread(int level) {{ struct job jobs[2]; HANDLES(t, 2);
  for (int i = 0; i < 2; i++) {{ jobs[i].level = level; jobs[i].sum = &sums[i]; CREATE(t[i], work, &jobs[i]); }}
  for (int i = 0; i < 2; i++) JOIN(t[i]); }}
ROUTINE work(void *p) {{ struct job *j = (struct job *)p;
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *j->sum += i; pthread_mutex_unlock(&m); }}
  if (j->level > 0) spread(j->level - 1);
  RETURN; }}
ROUTINE first(void *p) {{ (void)p; spread(2); RETURN; }}
int main(void) {{ HANDLE(t); CREATE(t, first, 0); JOIN(t); }}"""),
    "pointer_by_exchange": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}struct box {{ long n; }}; static struct box one, *left = &one, *right = &one;
ROUTINE first(void *p) {{ (void)p; struct box *b = __atomic_exchange_n(&left, (struct box *)0, __ATOMIC_ACQ_REL);
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); b->n += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; struct box *b = 0;
  while (!__atomic_compare_exchange_n(&right, &b, (struct box *)0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) sched_yield();
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); b->n -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "pointer_by_fetch_add": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static long table[2], *cursor = table;
ROUTINE first(void *p) {{ (void)p; long *mine = __atomic_fetch_add(&cursor, sizeof *cursor, __ATOMIC_RELAXED);
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *mine += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p;
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); table[1] -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ __atomic_fetch_add(&cursor, sizeof *cursor, __ATOMIC_RELAXED); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "pointers_behind_dots": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <stdarg.h>
{LOCK}struct box {{ long n; }}; static struct box one, *left, *right;
static void give(int count, ...) {{ va_list list; va_start(list, count); left = va_arg(list, struct box *);
  va_list rest; va_copy(rest, list); right = count > 1 ? va_arg(rest, struct box *) : 0; va_end(rest); va_end(list); }}
ROUTINE first(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); left->n += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); right->n -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ give(2, &one, &one); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "pointers_under_keys": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static pthread_key_t key; static long shared;
static void add(long n) {{ long *to = (long *)pthread_getspecific(key); pthread_mutex_lock(&m); *to += n; pthread_mutex_unlock(&m); }}
ROUTINE first(void *p) {{ (void)p; pthread_setspecific(key, &shared); for (int i = 0; i < 1000; i++) add(i); RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ pthread_key_create(&key, 0); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "key_destructor": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static pthread_key_t key; static long shared;
static void end(void *p) {{ for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *(long *)p += i; pthread_mutex_unlock(&m); }} }}
ROUTINE first(void *p) {{ (void)p; pthread_setspecific(key, &shared); RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ pthread_key_create(&key, end); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "tss_destructor": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static tss_t key; static long shared;
static void end(void *p) {{ for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *(long *)p += i; pthread_mutex_unlock(&m); }} }}
ROUTINE first(void *p) {{ (void)p; tss_set(key, &shared); thrd_exit(0); }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ tss_create(&key, end); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}""", ["c11"]),
    "key_destructor_frees": ([T("first", A), T("second", A)], """
struct own { int who; long sum; }; static pthread_key_t key;
static void end(void *p) { struct own *o = (struct own *)p; printf("%d: %ld\\n", o->who, o->sum); free(p); }
static void add(long n) { struct own *o = (struct own *)pthread_getspecific(key); o->sum += n; }
ROUTINE first(void *p) { (void)p; struct own *o = (struct own *)calloc(1, sizeof *o); o->who = 1; pthread_setspecific(key, o); for (int i = 0; i < 100; i++) add(i); RETURN; }
ROUTINE second(void *p) { (void)p; struct own *o = (struct own *)calloc(1, sizeof *o); o->who = 2; pthread_setspecific(key, o); for (int i = 0; i < 100; i++) add(-i); RETURN; }
int main(void) { pthread_key_create(&key, end); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "key_destructor_adds": ([T("work", S, A, shares=["work", "main"])], f"""
{LOCK}static pthread_key_t key; static long total;
static void end(void *p) {{ pthread_mutex_lock(&m); total += *(long *)p; pthread_mutex_unlock(&m); free(p); }}
ROUTINE work(void *p) {{ (void)p; long *sum = (long *)calloc(1, sizeof *sum); pthread_setspecific(key, sum); for (int i = 0; i < 1000; i++) *sum += i * i % 7; RETURN; }}
int main(void) {{ pthread_key_create(&key, end); HANDLES(t, 4); for (int i = 0; i < 4; i++) CREATE(t[i], work, 0); for (int i = 0; i < 4; i++) JOIN(t[i]); printf("%ld\\n", total); }}"""),
    "key_destructor_sets_another": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static pthread_key_t early, late; static long shared; struct box {{ long *to; }};
static void add(void *p) {{ for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *(long *)p += i; pthread_mutex_unlock(&m); }} }}
static void open_it(void *p) {{ struct box *b = (struct box *)p; long *to = b->to; free(p); pthread_setspecific(late, to); }}
static void (*const ends[2])(void *) = {{open_it, add}};
ROUTINE first(void *p) {{ (void)p; struct box *b = (struct box *)malloc(sizeof *b); b->to = &shared; pthread_setspecific(early, b); RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(int argc, char **argv) {{ (void)argv; pthread_key_create(&early, ends[argc - 1]); pthread_key_create(&late, ends[argc]);
  HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "key_destructor_of_library": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static pthread_key_t key; static long shared;
static void end(void *p) {{ (void)p; pthread_mutex_lock(&m); shared++; pthread_mutex_unlock(&m); }}
ROUTINE first(void *p) {{ (void)p; pthread_setspecific(key, strdup("text")); RETURN; }}
ROUTINE second(void *p) {{ (void)p; pthread_mutex_lock(&m); shared--; pthread_mutex_unlock(&m); RETURN; }}
int main(void) {{ pthread_key_t other; pthread_key_create(&other, free); pthread_key_create(&key, end); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "destructor_of_thread_local": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static long shared; struct adds {{ long *to = 0; ~adds() {{ for (int i = 0; to && i < 1000; i++) {{ pthread_mutex_lock(&m); *to += i; pthread_mutex_unlock(&m); }} }} }};
static thread_local adds mine;
ROUTINE first(void *p) {{ (void)p; mine.to = &shared; RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}""", ["std", "jthread"]),
    "library_keeps_pointer": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <search.h>
{LOCK}static long shared; static char name[] = "one";
ROUTINE first(void *p) {{ (void)p; ENTRY e = {{name, 0}}; long *to = (long *)hsearch(e, FIND)->data;
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ hcreate(10); ENTRY e = {{name, &shared}}; hsearch(e, ENTER);
  HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "library_keeps_both": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <search.h>
{LOCK}struct box {{ long n, *to; }}; static long shared; static struct box box; static char name[] = "one";
static struct box *found(void) {{ ENTRY e = {{name, 0}}; return (struct box *)hsearch(e, FIND)->data; }}
ROUTINE first(void *p) {{ (void)p; struct box *b = found(); for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *b->to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; struct box *b = found(); for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *b->to -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ hcreate(10); box.to = &shared; ENTRY e = {{name, &box}}; hsearch(e, ENTER);
  HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "library_keeps_in_a_tree": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <search.h>
{LOCK}struct item {{ int key; long *to; }}; static struct item one; static void *root; static long shared;
static int order(const void *a, const void *b) {{ return *(const int *)a - *(const int *)b; }}
static long *find(int key) {{ struct item **at = (struct item **)tfind(&key, &root, order); return (*at)->to; }}
ROUTINE first(void *p) {{ (void)p; long *to = find(1); for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ one.key = 1; one.to = &shared; tsearch(&one, &root, order); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "library_walks_a_tree": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <search.h>
{LOCK}struct item {{ int key; long *to; }}; static struct item one; static void *root; static long shared;
static int order(const void *a, const void *b) {{ return *(const int *)a - *(const int *)b; }}
static void add(const void *at, VISIT when, int depth) {{ (void)depth; if (when != leaf) return;
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *(*(struct item *const *)at)->to += i; pthread_mutex_unlock(&m); }} }}
ROUTINE first(void *p) {{ (void)p; twalk(root, add); RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ one.key = 1; one.to = &shared; tsearch(&one, &root, order); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "library_keeps_function": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <obstack.h>
{LOCK}static struct obstack heap; static long shared;
static void *take(size_t bytes) {{ for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared += i; pthread_mutex_unlock(&m); }} return malloc(bytes); }}
#define obstack_chunk_alloc take
#define obstack_chunk_free free
ROUTINE first(void *p) {{ (void)p; obstack_blank(&heap, 100000); RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ obstack_init(&heap); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "library_in_each_thread": ([T("first", A), T("second", A)], """
#include <search.h>
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void grow(int from) { void *root = 0; for (int i = 0; i < 4; i++) { int *n = (int *)malloc(sizeof *n); *n = from * i; if (*(int **)tsearch(n, &root, order) != n) free(n); }
  while (root != 0) { int *n = *(int **)root; tdelete(n, &root, order); printf("%d\\n", *n); free(n); } }
ROUTINE first(void *p) { (void)p; grow(3); RETURN; }
ROUTINE second(void *p) { (void)p; grow(5); RETURN; }
int main(void) { HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }"""),
    "pointer_behind_a_number": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static char text[] = "12;", *end;
ROUTINE first(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *end += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); text[2] -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ strtol(text, &end, 10); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "pointer_by_strtok": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static char text[] = "one two three", *word, *other, *save;
ROUTINE first(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *word += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *other -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ strtok_r(text, " ", &save); word = strtok_r(0, " ", &save); text[3] = ' '; text[7] = ' '; strtok(text, " "); other = strtok(0, " ");
  HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "pointers_in_a_map": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <map>
{LOCK}static long shared; static std::map<int, long *> *places;
ROUTINE first(void *p) {{ (void)p; long *to = 0; for (auto &each : *places) to = each.second; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ places = new std::map<int, long *>; (*places)[1] = &shared; HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}""", ["std", "jthread"]),
    "pointers_in_a_list": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <list>
{LOCK}static long shared; static std::list<long *> *places;
ROUTINE first(void *p) {{ (void)p; long *to = *++places->begin(); for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ static long other; places = new std::list<long *>; places->push_back(&other); places->push_back(&shared); HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}""", ["std", "jthread"]),
    "pointer_by_epoll": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
#include <sys/epoll.h>
#include <sys/eventfd.h>
{LOCK}static int waits; static long shared;
ROUTINE first(void *p) {{ (void)p; struct epoll_event e; if (epoll_wait(waits, &e, 1, -1) == 1)
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *(long *)e.data.ptr += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ waits = epoll_create1(0); struct epoll_event e; e.events = EPOLLIN; e.data.ptr = &shared; epoll_ctl(waits, EPOLL_CTL_ADD, eventfd(1, 0), &e);
  HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0); JOIN(a); JOIN(b); }}"""),
    "pointer_through_a_pipe": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}static int ends[2]; static long shared;
ROUTINE first(void *p) {{ (void)p; long *to; if (read(ends[0], &to, sizeof to) == (ssize_t)sizeof to)
  for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); *to += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ (void)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); shared -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(void) {{ if (pipe(ends) != 0) return 1; HANDLE(a); HANDLE(b); CREATE(a, first, 0); CREATE(b, second, 0);
  long *to = &shared; if (write(ends[1], &to, sizeof to) < 0) return 1; JOIN(a); JOIN(b); }}"""),
    "told_by_signal": ([T("waiter", P, shares=["main"])], """
#include <signal.h>
static volatile int go;
static void tell(int number) { go = number; }
ROUTINE waiter(void *p) { (void)p; while (!go) sched_yield(); puts("gone"); RETURN; }
int main(void) { signal(SIGUSR1, tell); HANDLE(t); CREATE(t, waiter, 0); usleep(1000); raise(SIGUSR1); JOIN(t); }"""),
    "told_by_sigaction": ([T("waiter", P, shares=["main"])], """
#include <signal.h>
static volatile int go;
static void tell(int number) { go = number; }
ROUTINE waiter(void *p) { (void)p; while (!go) sched_yield(); puts("gone"); RETURN; }
int main(void) { struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = tell; sigaction(SIGUSR1, &a, 0);
  HANDLE(t); CREATE(t, waiter, 0); usleep(1000); raise(SIGUSR1); JOIN(t); }"""),
    "result_at_exit": ([T("sum", P, shares=["main"])], """
static long total;
static void tell(void) { printf("%ld\\n", total); }
ROUTINE sum(void *p) { (void)p; for (int i = 0; i < 1000; i++) total += i; RETURN; }
int main(void) { atexit(tell); HANDLE(t); CREATE(t, sum, 0); JOIN(t); }"""),
    "pointer_by_asprintf": ([T("first", S, shares=["second"]), T("second", S, shares=["first"], parent="first")], f"""
{LOCK}
ROUTINE first(void *p) {{ char *s = (char *)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); s[0] += i; pthread_mutex_unlock(&m); }} RETURN; }}
ROUTINE second(void *p) {{ char *s = (char *)p; for (int i = 0; i < 1000; i++) {{ pthread_mutex_lock(&m); s[0] -= i; pthread_mutex_unlock(&m); }} RETURN; }}
int main(int argc, char **argv) {{ (void)argv; char *text = 0; if (asprintf(&text, "%d numbers", argc) < 0) return 1;
  HANDLE(a); HANDLE(b); CREATE(a, first, text); CREATE(b, second, text); JOIN(a); JOIN(b); }}""", ["std", "jthread"]),
    "result_value": ([T("answer", P, shares=["main"])], """
static void *answer(void *p) { long s = (long)p; for (int i = 0; i < 100; i++) s += i; return (void *)s; }
int main(void) { pthread_t t; void *r; pthread_create(&t, 0, answer, (void *)5L); pthread_join(t, &r); printf("%ld\\n", (long)r); }""", ["pthread"]),
    "result_pointer": ([T("answer", P, shares=["main"])], """
static void *answer(void *p) { long *s = malloc(sizeof *s); (void)p; *s = 0; for (int i = 0; i < 100; i++) *s += i; return s; }
int main(void) { pthread_t t; void *r; pthread_create(&t, 0, answer, 0); pthread_join(t, &r); printf("%ld\\n", *(long *)r); free(r); }""", ["pthread"]),
    "retried": ([T("work", A)], f"""
static void *work(void *p) {{ (void)p;
{WORK}  return 0; }}
int main(void) {{ pthread_t t; while (pthread_create(&t, 0, work, 0) == EAGAIN) usleep(100); pthread_join(t, 0); }}""", ["pthread"]),
    "retried_a_few_times": ([T("work", A)], f"""
static void *work(void *p) {{ (void)p;
{WORK}  return 0; }}
int main(void) {{ pthread_t t; int made = 0; for (int n = 0; n < 5; n++) {{ if (pthread_create(&t, 0, work, 0) == 0) {{ made = 1; break; }} usleep(100); }} if (made) pthread_join(t, 0); }}""", ["pthread"]),
    "with_attributes": ([T("work", A)], f"""
static void *work(void *p) {{ (void)p;
{WORK}  return 0; }}
int main(void) {{ pthread_t t; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 1 << 20); pthread_create(&t, &a, work, 0); pthread_attr_destroy(&a); pthread_join(t, 0); }}""", ["pthread"]),
    "lambda_by_reference": ([T("lambda", P, shares=["main"])], """
int main() { long out = 0; std::THREAD t([&out] { long s = 0; for (int i = 0; i < 100; i++) s += i; out = s; }); t.join(); printf("%ld\\n", out); }""", ["std", "jthread"]),
    "lambda_by_value": ([T("lambda", A)], """
int main() { int n = 9; std::THREAD t([n] { long s = 0; for (int i = 0; i < n; i++) s += i; printf("%ld\\n", s); }); t.join(); }""", ["std", "jthread"]),
    "vector_of_threads": ([T("lambda", S, A)], """
int main() { std::vector<std::THREAD> all; for (int i = 0; i < 4; i++) all.emplace_back([i] { long s = 0; for (int k = 0; k < 100; k++) s += i; printf("%ld\\n", s); }); for (auto &t : all) t.join(); }""", ["std", "jthread"]),
    "arguments": ([T("work", A)], """
static void work(int from, double step) { double s = from; for (int i = 0; i < 100; i++) s += step; printf("%f\\n", s); }
int main() { std::THREAD t(work, 3, 0.5); t.join(); }""", ["std", "jthread"]),
    "member_function": ([T("run", P, shares=["main"])], """
struct Worker { long out = 0; void run(int n) { for (int i = 0; i < n; i++) out += i; } };
int main() { Worker w; std::THREAD t(&Worker::run, &w, 50); t.join(); printf("%ld\\n", w.out); }""", ["std", "jthread"]),
    "references": ([T("fill", S, shares=["use"]), T("use", S, shares=["fill"], parent="fill")], """
static void fill(std::atomic<int> &turn) { for (int i = 0; i < 100; i++) turn.fetch_add(1); }
static void use(std::atomic<int> &turn) { int s = 0; for (int i = 0; i < 100; i++) s += turn.exchange(0); printf("%d\\n", s); }
int main() { std::atomic<int> turn{0}; std::THREAD a(fill, std::ref(turn)); std::THREAD b(use, std::ref(turn)); a.join(); b.join(); }""", ["std", "jthread"]),
}

COMMON = """#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
"""
FLAVOURS = {
    "pthread": ("c", "", {"ROUTINE": "static void *", "RETURN": "return 0", "TYPE": "pthread_t", "POINTER": "void *(*{})(void *)",
                          "CREATE": "pthread_create(&({0}), 0, {1}, {2})", "JOIN": "pthread_join({0}, 0)", "DETACH": "pthread_detach({0})"}),
    "c11": ("c", "#include <threads.h>\n", {"ROUTINE": "static int", "RETURN": "return 0", "TYPE": "thrd_t", "POINTER": "int (*{})(void *)",
                                            "CREATE": "thrd_create(&({0}), {1}, {2})", "JOIN": "thrd_join({0}, 0)", "DETACH": "thrd_detach({0})"}),
    "std": ("cpp", "#include <atomic>\n#include <thread>\n#include <vector>\n",
            {"ROUTINE": "static void", "RETURN": "return", "TYPE": "std::thread", "POINTER": "void (*{})(void *)", "THREAD": "thread",
             "CREATE": "{0} = std::thread({1}, (void *)({2}))", "JOIN": "{0}.join()", "DETACH": "{0}.detach()"}),
    "jthread": ("cpp", "#include <atomic>\n#include <thread>\n#include <vector>\n",
                {"ROUTINE": "static void", "RETURN": "return", "TYPE": "std::jthread", "POINTER": "void (*{})(void *)", "THREAD": "jthread",
                 "CREATE": "{0} = std::jthread({1}, (void *)({2}))", "JOIN": "{0}.join()", "DETACH": "{0}.detach()"}),
}


def arguments(text, start):
    """The arguments of a mark whose '(' is at `start`, and where it ends."""
    depth, parts, begin = 0, [], start + 1
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                parts.append(text[begin:at].strip())
                return parts, at + 1
        elif text[at] == "," and depth == 1:
            parts.append(text[begin:at].strip())
            begin = at + 1
    raise ValueError(text[start:start + 40])


def expand(text, words):
    out, at = "", 0
    for match in iter(lambda: re.compile(r"\b(ROUTINE_POINTER|HANDLES|HANDLE|CREATE|JOIN|DETACH)\(").search(text, at), None):
        out += text[at:match.start()]
        parts, at = arguments(text, match.end() - 1)
        mark = match.group(1)
        if mark == "HANDLE":
            out += f"{words['TYPE']} {parts[0]}"
        elif mark == "HANDLES":
            out += f"{words['TYPE']} {parts[0]}[{parts[1]}]"
        elif mark == "ROUTINE_POINTER":
            inner = parts[0].strip("()").lstrip("*") if parts[0].startswith("(") else parts[0]
            out += words["POINTER"].format(inner)
        else:
            out += words[mark].format(*parts)
    out += text[at:]
    for mark in ("ROUTINE", "RETURN", "THREAD"):
        if mark in words:
            out = re.sub(rf"\b{mark}\b", words[mark], out)
    return out.replace("HANDLE_TYPE", words["TYPE"]).replace("THREAD_LOCAL", "__thread")


def programs():
    """(name, file name, source, threads) of every program."""
    for family, (threads, source, *only) in FAMILIES.items():
        for flavour in only[0] if only else FLAVOURS:
            ending, includes, words = FLAVOURS[flavour]
            name = f"{family}_{flavour}"
            truth = "\n".join(thread.line() for thread in threads)
            text = f"// {name}\n{truth}\n{COMMON}{includes}{expand(source, words)}\n"
            yield name, f"{name}.{ending}", text, threads
