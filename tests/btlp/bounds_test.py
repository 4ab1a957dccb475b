#!/usr/bin/env python3
"""The analysis stays bounded: programs that made it look at ever more call paths, held against a number of steps.

Usage: bounds_test.py BUILD

Steps are instructions that were looked at (`effort` in the report), so the answer is the same on every machine.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROUTINES = 8
MOST_THREADS = 100


def threads_that_start_each_other():
    """Every routine can start every other one: as many chains of creations as there are orders of the routines."""
    text = "#include <pthread.h>\nstatic long counts[64];\nlong which(void);\n"
    text += "".join(f"static void *r{n}(void *p);\n" for n in range(ROUTINES))
    for n in range(ROUTINES):
        text += f"static void *r{n}(void *p) {{\n  pthread_t t;\n  counts[{n}]++;\n  switch (which()) {{\n"
        text += "".join(f"  case {m}: pthread_create(&t, 0, r{m}, p); break;\n" for m in range(ROUTINES) if m != n)
        text += "  }\n  return p;\n}\n"
    text += "long which(void) { return counts[63]; }\n"
    return text + "int main(void) {\n  pthread_t t;\n  if (pthread_create(&t, 0, r0, 0)) return 1;\n" \
                  "  return pthread_join(t, 0);\n}\n"


def lists_in_lists():
    """memcpy() between all of many structures that point at each other."""
    count = 40
    text = "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n" \
           "struct s { struct s *a, *b, *c; long n[4]; };\nstatic struct s *all[64];\nlong which(void);\n"
    text += "static void mix(void) {\n  memcpy(all[which()], all[which()], sizeof(struct s));\n" \
            "  all[which()]->a = all[which()]->b;\n  all[which()]->b = all[which()]->c->a;\n}\n"
    text += "static void *work(void *p) {\n"
    text += "".join(f"  all[{n}] = malloc(sizeof(struct s));\n  all[{n}]->a = all[which()];\n" for n in range(count))
    text += "  for (int n = 0; n < 9; n++) mix();\n  return p;\n}\nlong which(void) { return random() % 40; }\n"
    return text + "int main(void) {\n  pthread_t t[4];\n  for (int n = 0; n < 4; n++) if (pthread_create(&t[n], 0, work, 0)) return 1;\n" \
                  "  for (int n = 0; n < 4; n++) pthread_join(t[n], 0);\n  return 0;\n}\n"


def far_from_its_use():
    """A pointer goes through many hands, one more each time that the program is followed; most instructions only compute."""
    hands, sums = 20, 60
    text = "#include <pthread.h>\nstatic long data; static long *hand[32]; static volatile long x;\n"
    for n in range(hands):
        adds = " ".join(f"s += x * {m + 3};" for m in range(sums))
        text += f"static __attribute__((noinline)) void pass{n}(void) {{ long s = 0; {adds} x = s; hand[{n + 1}] = hand[{n}]; }}\n"
    text += "static void *work(void *p) {\n" + "".join(f"  pass{n}();\n" for n in reversed(range(hands)))
    text += f"  (*hand[{hands}])++;\n  return p;\n}}\n"
    return text + "int main(void) {\n  pthread_t t[2];\n  hand[0] = &data;\n" \
                  "  for (int n = 0; n < 2; n++) if (pthread_create(&t[n], 0, work, 0)) return 1;\n" \
                  "  for (int n = 0; n < 2; n++) pthread_join(t[n], 0);\n  return 0;\n}\n"


PROGRAMS = [(threads_that_start_each_other, 300_000), (lists_in_lists, 300_000), (far_from_its_use, 40_000)]


def main():
    hearth = pathlib.Path(sys.argv[1]) / "bin/hearth-cc"
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for program, most in PROGRAMS:
            source, report = folder / "program.c", folder / "program.json"
            source.write_text(program())
            subprocess.run([hearth, "-O1", source, "-o", folder / "program", "-pthread", f"--explain={report}"], check=True)
            found = json.loads(report.read_text())
            steps, threads = found["effort"]["steps"], found["threads"]
            wrong = []
            if not 0 < steps <= most or not 0 < len(threads) <= MOST_THREADS:
                wrong.append(f"{steps} steps (at most {most}), {len(threads)} threads (at most {MOST_THREADS})")
            # All of them write what others write: bounded must not mean independent.
            wrong += [f"{each['routine']} is autonomous" for each in threads if each["class"] == "autonomous"]
            print(f"{program.__name__}: {steps} steps, {found['effort']['contexts']} contexts, {len(threads)} threads"
                  + "".join("\n  WRONG: " + each for each in wrong))
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
