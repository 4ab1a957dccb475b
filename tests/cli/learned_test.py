#!/usr/bin/env python3
"""`hearth run --learn` and `hearth learned`: what one run sees the next one finds; strange files are refused and left alone;
many processes at once lose nothing."""
import json
import os
import pathlib
import subprocess
import unittest

from common import HEARTH, LIBRARY, SOURCE, Workshop, clean_environment, hearth

SHOP = Workshop()

# Two constructs whose tasks have a large footprint. Arguments: how often each; "fork": a child does it again.
PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
enum { BLOCKS = 16, BYTES = 1 << 18 };
static char data[BLOCKS][BYTES];
static void region(int times) {
#pragma omp parallel
#pragma omp masked
  for (int t = 0; t < times; t++) {
    for (int i = 0; i < BLOCKS; i++) {
#pragma omp task depend(inout : data[i])
      for (volatile int k = 0; k < BYTES; k++) data[i][k]++;
    }
#pragma omp taskwait
    for (int i = 0; i < BLOCKS; i++) {
#pragma omp task depend(in : data[i])
      for (volatile int k = 0; k < BYTES; k++) (void)data[i][k];
    }
#pragma omp taskwait
  }
}
int main(int argc, char** argv) {
  region(argc > 1 ? atoi(argv[1]) : 8);
  if (argc > 2 && !strcmp(argv[2], "fork")) {
    if (fork() == 0) {
      region(8);
      exit(0);
    }
    wait(NULL);
  }
  return 0;
}
"""

def compile_program(name, more=""):
    # gcc passes no lengths of what tasks depend on.
    return SHOP.compile(name, PROGRAM + more, "-fopenmp", compiler="clang-19")


HEAD = "hearth-learned 1\n"
ENVIRONMENT = {"HEARTH_MACHINE": SOURCE / "models/opteron-6172x4.toml", "OMP_NUM_THREADS": 8, "HEARTH_POLICY": "adaptive"}
TWO_LOCATIONS = {"HEARTH_MACHINE": SOURCE / "models/xeon-e5-2630v2x2.toml", "OMP_NUM_THREADS": 2, "HEARTH_POLICY": "home-cache",
                 "HEARTH_VICINITY": 1}


def setUpModule():
    SHOP.program = compile_program("learns")
    SHOP.sites = SHOP.compile("sites", SITES, "-g", "-fopenmp", f"-L{os.path.dirname(LIBRARY)}", "-lhearth", compiler="clang-19")


def tearDownModule():
    SHOP.close()


# Two blocks after each other that the initial thread fills and tasks work on the parts of. Argument: who allocates them; "once":
# there is one block.
SITES = r"""
#include <stdlib.h>
#include <string.h>
#include <omp.h>
void* omp_malloc(size_t);
void omp_malloc_free(void*);
enum { PARTS = 32, PART = 1 << 16 };
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  for (int round = 0; round < (strcmp(how, "once") ? 2 : 1); round++) {
    char* block;
    if (!strcmp(how, "omp_malloc"))
      block = omp_malloc(PARTS * PART);
    else if (!strcmp(how, "omp_alloc"))
      block = omp_alloc(PARTS * PART, omp_default_mem_alloc);
    else
      block = malloc(PARTS * PART);
    memset(block, 1, PARTS * PART);
#pragma omp parallel
#pragma omp masked
    for (int i = 0; i < 4 * PARTS; i++) {
      char* part = block + i % PARTS * PART;
#pragma omp task depend(inout : part[0 : PART])
      for (volatile int k = 0; k < PART; k++) part[k]++;
    }
    if (!strcmp(how, "omp_malloc"))
      omp_malloc_free(block);
    else if (!strcmp(how, "omp_alloc"))
      omp_free(block, omp_default_mem_alloc);
    else
      free(block);
  }
  return 0;
}
"""


class Sites(unittest.TestCase):
    def setUp(self):
        self.path = SHOP.folder / "of-sites"
        self.path.unlink(missing_ok=True)

    def learn(self, how, *options):
        # A thread at each location, and nobody else runs its tasks, however few CPUs there are: what is local is no luck.
        done = hearth("run", "--distribute=learn", f"--learn={self.path}", *options, "--", SHOP.sites, how,
                      env=TWO_LOCATIONS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def sites(self):
        done = hearth("learned", "--json", self.path, env=TWO_LOCATIONS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [entry for entry in json.loads(done.stdout)["entries"] if entry["kind"] == "site"]

    def test_the_next_block_and_the_next_run_get_what_suits(self):
        for how in ("malloc", "omp_malloc", "omp_alloc"):
            with self.subTest(how=how):
                self.path.unlink(missing_ok=True)
                self.learn(how)
                site, = self.sites()
                self.assertEqual((site["module"], site["blocks"], site["next"]), (str(SHOP.sites.resolve()), 2, "blocked"))
                self.assertEqual([one["distribution"] for one in site["tried"]], ["standard", "blocked"])
                before = {one["distribution"]: one["uses"] for one in site["tried"]}
                self.learn(how)
                site, = self.sites()
                after = {one["distribution"]: one["uses"] for one in site["tried"]}
                self.assertEqual(after["standard"], before["standard"])
                self.assertEqual(after["blocked"], before["blocked"] + before["standard"] + before["blocked"])

    def test_it_is_told_in_words(self):
        self.learn("malloc")
        done = hearth("learned", self.path, env=TWO_LOCATIONS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"blocks of less than 4 MiB from \+0x[0-9a-f]+ main")
        self.assertIn("the next block: blocked", done.stdout)

    def test_a_threshold_is_kept(self):
        done = hearth("run", "--distribute=learn,min=4M", f"--learn={self.path}", "--", SHOP.sites, "malloc",
                      env={**ENVIRONMENT, "HEARTH_POLICY": "locality"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(self.path.exists())

    def test_without_a_file_a_process_learns_for_itself(self):
        done = hearth("run", "--distribute=learn", "--", SHOP.sites, "malloc", env={**ENVIRONMENT, "HEARTH_POLICY": "locality"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_line_says_where_the_next_run_would_gain(self):
        done = hearth("run", "--distribute=learn", "--", SHOP.sites, "once", env={**ENVIRONMENT, "HEARTH_POLICY": "locality"})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hearth: HEARTH_DISTRIBUTE=learn: for 1 allocation site a better .*`hearth run --learn` keeps it.*\n$")

    def test_where_tasks_name_nothing_nothing_is_learned(self):
        done = hearth("run", "--distribute=learn", f"--learn={self.path}", "--", SHOP.sites, "malloc",
                      env={**ENVIRONMENT, "HEARTH_POLICY": "work-stealing"})
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing to learn, since policy work-stealing", done.stderr)
        self.assertFalse(self.path.exists())

    def test_a_file_that_knows_better_than_all_runs_is_corrected(self):
        self.learn("malloc")
        text = self.path.read_text()
        self.assertIn(" coarse=0 coarse-ns=0 coarse-local=0 ", text)
        # It says that blocks lie best in turns, which is not what suits.
        lies = text.replace(" coarse=0 coarse-ns=0 coarse-local=0 ", " coarse=1000000 coarse-ns=1 coarse-local=1000 ")
        self.path.write_text(lies)
        self.assertEqual(self.sites()[0]["next"], "coarse")
        self.learn("malloc")
        # A million uses in the file count for a few beside those of one run. What is best then is the clock's business.
        tried = {one["distribution"]: one["task_ns"] for one in self.sites()[0]["tried"]}
        self.assertGreater(tried["coarse"], tried["blocked"] / 2)


class Learning(unittest.TestCase):
    def setUp(self):
        self.path = SHOP.folder / "seen"
        self.path.unlink(missing_ok=True)

    def learn(self, *arguments, option=None, program=None, **environment):
        return hearth("run", option or f"--learn={self.path}", "--", program or SHOP.program, *arguments,
                      env={**ENVIRONMENT, **environment})

    def entries(self, *words):
        done = hearth("learned", "--json", *words, self.path, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["entries"]

    def test_a_run_writes_what_its_constructs_have_shown(self):
        done = self.learn()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        entries = self.entries()
        self.assertEqual(len(entries), 2)
        for entry in entries:
            self.assertEqual((entry["module"], entry["threads"], entry["this_machine"]), (str(SHOP.program.resolve()), 8, True))
            self.assertGreater(entry["asked"] + entry["home"] + entry["far"], 0)
        self.assertEqual(oct(self.path.stat().st_mode & 0o777), "0o600")

    def test_the_next_run_adds_to_it(self):
        self.learn()
        before = {entry["offset"]: entry["asked"] for entry in self.entries()}
        self.learn()
        after = {entry["offset"]: entry["asked"] for entry in self.entries()}
        self.assertEqual(before.keys(), after.keys())
        for offset, asked in before.items():
            self.assertGreater(after[offset], asked)

    def test_other_machines_and_numbers_of_threads_are_kept_apart(self):
        self.learn()
        self.learn(OMP_NUM_THREADS=4)
        self.learn(HEARTH_MACHINE=SOURCE / "models/opteron-8347hex4.toml")
        entries = self.entries()
        self.assertEqual(len(entries), 6)
        self.assertEqual(sorted({entry["threads"] for entry in entries}), [4, 8])
        self.assertEqual(len({entry["machine"] for entry in entries if entry["this_machine"]}), 1)
        self.assertEqual(len({entry["machine"] for entry in entries}), 2)

    def test_a_program_built_anew_forgets_what_it_was(self):
        program = compile_program("rebuilt")
        self.learn(program=program)
        before = {entry["build"] for entry in self.entries()}
        compile_program("rebuilt", "int more;\n")
        self.learn(program=program)
        after = {entry["build"] for entry in self.entries()}
        self.assertEqual((len(before), len(after), before & after), (1, 1, set()))

    def test_by_default_in_the_cache_folder(self):
        cache = SHOP.folder / "cache"
        self.learn(option="--learn", XDG_CACHE_HOME=cache)
        found = list((cache / "hearth").glob("*.learned"))
        self.assertEqual(len(found), 1)
        done = hearth("learned", env={**ENVIRONMENT, "XDG_CACHE_HOME": cache})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(str(found[0]) + ": 2 entries", done.stdout)
        self.assertIn("8 threads on this machine", done.stdout)

    def test_off_by_default(self):
        cache = SHOP.folder / "untouched"
        hearth("run", "--", SHOP.program, env={**ENVIRONMENT, "XDG_CACHE_HOME": cache})
        self.assertFalse(cache.exists())

    def test_no_folder_is_said(self):
        done = self.learn(option="--learn", XDG_CACHE_HOME=None, HOME=None)
        self.assertEqual((done.returncode, done.stderr),
                         (0, "hearth: HEARTH_LEARN: neither XDG_CACHE_HOME nor HOME names a folder; nothing is learned.\n"))

    def test_where_nothing_can_be_learned_a_line_says_so(self):
        done = self.learn(HEARTH_POLICY="locality")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hearth: HEARTH_LEARN: nothing to learn, since policy locality keeps no accounts .*\n$")
        self.assertFalse(self.path.exists())

    def test_strange_content_is_refused_and_left_alone(self):
        for text, place in (("my letters\n", "1:1"), ("hearth-learned 2\n", "1:1"), (HEAD + "construct 1 8 0x1 asked=no\n", "2:25"),
                            (HEAD + "cut off", "2:1")):
            self.path.write_text(text)
            done = self.learn()
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"^hearth: {self.path}:{place}: .*; legal: .*\. Nothing is learned, .*\n$")
            self.assertEqual(self.path.read_text(), text)
            done = hearth("learned", self.path)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"{self.path}:{place}: ", done.stderr)

    def test_what_is_no_file_of_this_kind_is_not_removed(self):
        self.path.write_text("my letters\n")
        self.assertEqual(hearth("learned", "--forget", self.path).returncode, 1)
        self.assertEqual(self.path.read_text(), "my letters\n")

    def test_a_file_that_cannot_be_written(self):
        self.path = SHOP.folder / "nowhere" / "seen"
        done = self.learn()
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hearth: .*nowhere/seen: cannot be written \(No such file.*\); what this run .* is lost\.\n$")

    def test_a_pipe_is_no_file(self):
        os.mkfifo(self.path)
        done = self.learn()
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hearth: .*seen: cannot be read \(Invalid argument\); nothing is learned\.\n$")

    def test_many_processes_at_once(self):
        environment = {**clean_environment(), **{name: str(value) for name, value in ENVIRONMENT.items()}}
        command = [HEARTH, "run", f"--learn={self.path}", "--", str(SHOP.program), "4"]
        programs = [compile_program(f"one{i}") for i in range(4)]
        children = [subprocess.Popen(command[:4] + [str(program), "4"], env=environment, stderr=subprocess.PIPE, text=True)
                    for program in programs for _ in range(2)]
        for child in children:
            self.assertEqual((child.communicate()[1], child.returncode), ("", 0))
        self.assertEqual(sorted({pathlib.Path(entry["module"]).name for entry in self.entries()}), [f"one{i}" for i in range(4)])

    def test_a_fork_child_adds_nothing(self):
        self.learn("8", "fork")
        self.assertEqual(len(self.entries()), 2)
        # The parent's alone: 8 times 16 tasks of each construct at most.
        for entry in self.entries():
            self.assertLessEqual(entry["home"] + entry["far"], 128)

    def test_forgetting(self):
        self.learn()
        one = self.entries()[0]
        done = hearth("learned", f"--forget=learns+{one['offset']:#x}", self.path)
        self.assertEqual((done.returncode, done.stderr), (0, "hearth: forgot 1 entry\n"))
        self.assertNotIn(one["offset"], [entry["offset"] for entry in self.entries()])
        self.assertEqual(hearth("learned", "--forget=nobody", self.path).returncode, 1)
        done = hearth("learned", "--forget", self.path)
        self.assertEqual((done.returncode, done.stderr), (0, "hearth: forgot 1 entry\n"))
        self.assertFalse(self.path.exists())

    def test_nothing_yet(self):
        done = hearth("learned", env={"XDG_CACHE_HOME": SHOP.folder / "none"})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hearth: learned: nothing yet; `hearth run --learn` writes .*\.learned\n$")


if __name__ == "__main__":
    unittest.main(argv=["learned_test.py"])
