#!/usr/bin/env python3
"""`hearth run`: every copy of a stock OpenMP runtime is redirected, and nothing else about a program changes."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from common import HEARTH, LIBRARY, PROGRAM, Workshop, hearth, run

SHOP = Workshop()


def setUpModule():
    SHOP.gcc = SHOP.compile("gcc_program", PROGRAM, "-fopenmp")


def tearDownModule():
    SHOP.close()


def mapped(result):
    return [line.split(" ", 1)[1] for line in result.stdout.splitlines() if line.startswith("mapped ")]


def stock_libgomp():
    return run("gcc", "-print-file-name=libgomp.so.1").stdout.strip()


class Arguments(unittest.TestCase):
    def test_mistakes_are_one_line_and_status_2(self):
        for arguments, text in [(["run"], "a program to run is required"),
                                (["run", "--policy", "lifo", "true"], "legal: adaptive, locality, work-stealing, central"),
                                (["run", "--threads", "0", "true"], "out of range at column 1"),
                                (["run", "--threads", "2,x", "true"], "not a number at column 3"),
                                (["run", "--nonsense", "true"], "--nonsense"),
                                (["dance"], "dance"),
                                ([], "subcommand")]:
            result = hearth(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_help_and_version_succeed(self):
        self.assertIn("run", hearth("--help").stdout)
        version = hearth("--version")
        self.assertEqual(version.returncode, 0)
        self.assertIn(LIBRARY, version.stdout)

    def test_what_follows_the_program_is_the_programs(self):
        for dashes in ([], ["--"]):
            result = hearth("run", *dashes, "echo", "--threads", "--", "-x", "--policy")
            self.assertEqual(result.stdout, "--threads -- -x --policy\n")

    def test_options_become_variables(self):
        result = hearth("run", "--threads", "3,2", "--policy", "central", "--", "sh", "-c",
                        "echo $OMP_NUM_THREADS $HEARTH_POLICY")
        self.assertEqual(result.stdout, "3,2 central\n")
        self.assertEqual(hearth("run", "sh", "-c", "echo x$HEARTH_POLICY").stdout, "x\n")


class Transparency(unittest.TestCase):
    def test_exit_status_passes_through(self):
        for status in (0, 1, 5, 77, 255):
            self.assertEqual(hearth("run", "--", "sh", "-c", f"exit {status}").returncode, status)

    def test_a_missing_program_is_127_and_an_unusable_one_126(self):
        self.assertEqual(hearth("run", "--", "/nowhere/at/all").returncode, 127)
        self.assertEqual(hearth("run", "--", "no-such-program-anywhere").returncode, 127)
        plain = SHOP.folder / "plain.txt"
        plain.write_text("x")
        self.assertEqual(hearth("run", "--", plain).returncode, 126)
        self.assertEqual(hearth("run", "--", SHOP.folder).returncode, 126)

    def test_death_by_signal_is_death_by_the_same_signal(self):
        self.assertEqual(hearth("run", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)

    def test_a_crash_names_the_fallback_in_the_last_line(self):
        result = hearth("run", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(result.returncode, -signal.SIGSEGV)
        self.assertIn("HEARTH=off", result.stderr.splitlines()[-1])

    def test_standard_input_and_output_are_the_programs(self):
        self.assertEqual(hearth("run", "cat", input="through\n").stdout, "through\n")

    def start(self, script):
        process = subprocess.Popen([HEARTH, "run", "--", sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        pid = int(process.stdout.readline())
        return process, pid

    def test_signals_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            process, _ = self.start("import os, signal, sys, time\n"
                                    f"signal.signal({int(number)}, lambda *_: os._exit(41))\n"
                                    "print(os.getpid(), flush=True)\ntime.sleep(60)")
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=30), 41, number)
            process.stdout.close()

    def test_ctrl_c_reaches_the_program_once(self):
        # What the terminal does: the signal goes to the whole process group. si_code tells it from kill(), which is why the
        # test needs a terminal.
        import pty
        script = ("import os, signal, sys, time\ncount = [0]\n"
                  "def hit(*_): count[0] += 1\n"
                  "signal.signal(signal.SIGINT, hit)\nprint('ready', flush=True)\n"
                  "end = time.time() + 1.5\n"
                  "while time.time() < end: time.sleep(0.05)\n"
                  "print('hits', count[0], flush=True)\n")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(HEARTH, [HEARTH, "run", "--", sys.executable, "-c", script])
        text = b""
        sent = False
        try:
            while True:
                text += os.read(terminal, 4096)
                if b"ready" in text and not sent:
                    os.write(terminal, b"\x03")
                    sent = True
        except OSError:
            pass  # the other end is gone
        os.waitpid(pid, 0)
        os.close(terminal)
        self.assertIn(b"hits 1", text)

    def counted(self, send):
        """How often a program gets SIGINT when send(process) has sent it."""
        script = ("import os, signal, sys, time\ncount = [0]\n"
                  "def hit(*_): count[0] += 1\n"
                  "signal.signal(signal.SIGINT, hit)\n"
                  "signal.signal(signal.SIGTERM, lambda *_: (print(count[0], flush=True), os._exit(0)))\n"
                  "print(os.getpid(), flush=True)\n"
                  "while True: time.sleep(0.01)\n")
        process = subprocess.Popen([HEARTH, "run", "--", sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                                   start_new_session=True)
        pid = int(process.stdout.readline())
        try:
            send(process)
            # SIGTERM comes after it: hearth takes signals one by one, so what it was to pass on is passed on by then.
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGTERM)
            hits = int(process.stdout.readline())
            self.assertEqual(process.wait(timeout=30), 0)
        finally:
            process.stdout.close()
            process.kill()
            process.wait()
        return hits

    def test_a_signal_to_the_process_group_arrives_once(self):
        self.assertEqual(self.counted(lambda process: os.killpg(process.pid, signal.SIGINT)), 1)

    def test_a_signal_to_hearth_alone_arrives_also_after_one_to_the_group(self):
        def send(process):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGINT)
        self.assertEqual(self.counted(send), 2)

    def test_when_hearth_is_killed_the_program_does_not_stay_behind(self):
        process, pid = self.start("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)")
        process.kill()
        process.wait()
        process.stdout.close()
        for _ in range(100):
            state = pathlib.Path(f"/proc/{pid}/stat")
            try:
                if state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    return
            except OSError:
                return
            time.sleep(0.05)
        self.fail(f"process {pid} is still running")


class Redirection(unittest.TestCase):
    def only_hearth(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(mapped(result), [LIBRARY], result.stderr)

    def test_the_stock_runtime_is_there_without_us(self):
        self.assertIn("libgomp", mapped(run(SHOP.gcc))[0])

    def test_a_gcc_program(self):
        result = hearth("run", "--threads", "3", "--", SHOP.gcc)
        self.only_hearth(result)
        self.assertIn("threads 3\n", result.stdout)

    def test_a_clang_program(self):
        clang = shutil.which("clang-19") or shutil.which("clang")
        self.assertIsNotNone(clang, "tools/setup installs clang-19")
        program = SHOP.compile("clang_program", PROGRAM, "-fopenmp", compiler=clang)
        self.only_hearth(hearth("run", "--", program))

    def test_children_and_scripts(self):
        script = SHOP.folder / "script.sh"
        script.write_text(f"#!/bin/sh\n{SHOP.gcc}\n")
        script.chmod(0o755)
        self.only_hearth(hearth("run", "--", script))

    def test_the_renamed_copy_of_a_wheel(self):
        # auditwheel copies libgomp under a hashed soname and finds it by RPATH. The stand-in has that soname and the
        # versions; at run time the real libgomp lies under its name, as in the wheel.
        name = "libgomp-e985bcbb.so.1.0.0"
        wheel = SHOP.folder / "wheel.libs"
        wheel.mkdir()
        versions = SHOP.folder / "versions.map"
        versions.write_text("GOMP_1.0 { global: GOMP_single_start; };\n"
                            "GOMP_2.0 { global: GOMP_task; } GOMP_1.0;\nGOMP_4.0 { global: GOMP_parallel; } GOMP_2.0;\n")
        stand_in = SHOP.compile(
            "stand_in.so", "void GOMP_parallel(void) {}\nvoid GOMP_task(void) {}\nint GOMP_single_start(void) { return 0; }",
            "-shared", "-fPIC", f"-Wl,-soname,{name}", f"-Wl,--version-script={versions}")
        shutil.copy(stand_in, wheel / name)
        source = SHOP.folder / "wheel_object.c"
        source.write_text(PROGRAM)
        compiled = run("gcc", "-O1", "-fopenmp", "-c", source, "-o", SHOP.folder / "wheel_object.o")
        self.assertEqual(compiled.returncode, 0, compiled.stderr)
        program = SHOP.folder / "wheel_program"
        linked = run("gcc", SHOP.folder / "wheel_object.o", "-o", program, wheel / name, "-Wl,-rpath,$ORIGIN/wheel.libs")
        self.assertEqual(linked.returncode, 0, linked.stderr)
        shutil.copy(stock_libgomp(), wheel / name)
        self.assertEqual(mapped(run(program)), [str(wheel / name)])
        # LD_LIBRARY_PATH cannot help here, the audit library can.
        self.only_hearth(hearth("run", "--", program))

    def test_an_absolute_dlopen_and_relatives_that_are_no_runtimes(self):
        plugin = SHOP.compile("libgomp-plugin-x.so.1", "int answer(void) { return 42; }", "-shared", "-fPIC")
        for other in ("libomptarget.so", "libompd.so", "libgomp-1.so"):
            shutil.copy(plugin, SHOP.folder / other)
        source = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    void* handle = dlopen(argv[i], RTLD_NOW);
    printf("%s\n", !handle ? dlerror() : dlsym(handle, "answer") ? "itself" :
           dlsym(handle, "__kmpc_fork_call") && dlsym(handle, "GOMP_parallel") ? "hearth" : "other");
  }
  return 0;
}"""
        program = SHOP.compile("opener", source, "-ldl")
        result = hearth("run", "--", program, plugin, SHOP.folder / "libomptarget.so", SHOP.folder / "libompd.so",
                        SHOP.folder / "libgomp-1.so", stock_libgomp(), "libomp.so.5", "libiomp5.so", "libgomp.so.1")
        self.assertEqual(result.stdout.split(), ["itself"] * 4 + ["hearth"] * 4, result.stdout)

    def test_off_gives_the_stock_runtime_back(self):
        for value in ("off", "OFF", "0", "false"):
            result = hearth("run", "--", SHOP.gcc, env={"HEARTH": value})
            self.assertIn("libgomp", mapped(result)[0], value)
        # Also for a child of a program that runs on Hearth.
        result = hearth("run", "--", "sh", "-c", f"HEARTH=off exec {SHOP.gcc}")
        self.assertIn("libgomp", mapped(result)[0])

    def test_an_audit_library_that_was_there_stays(self):
        result = hearth("run", "--", "sh", "-c", "echo $LD_AUDIT", env={"LD_AUDIT": "/nowhere/libother.so"})
        self.assertTrue(result.stdout.strip().endswith(":/nowhere/libother.so"), result.stdout)


class CannotBeHelped(unittest.TestCase):
    def test_a_static_program_runs_and_is_told_why(self):
        program = SHOP.compile("static_program", "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 4; }", "-static")
        result = hearth("run", "--", program)
        self.assertEqual(result.returncode, 4)
        self.assertEqual(result.stdout, "ran\n")
        self.assertIn("is linked statically", result.stderr)

    def test_a_program_with_its_runtime_inside_is_told_why(self):
        program = SHOP.compile("inside", "void GOMP_parallel(void) {}\nint main(void) { GOMP_parallel(); return 0; }")
        result = hearth("run", "--", program)
        self.assertEqual(result.returncode, 0)
        self.assertIn("it defines GOMP_parallel", result.stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can make a program that runs as somebody else")
    def test_a_setuid_program_is_told_why(self):
        program = SHOP.compile("setuid_program", "int main(void) { return 0; }")
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        SHOP.folder.chmod(0o755)
        result = hearth("run", "--", program)
        self.assertEqual(result.returncode, 0)
        self.assertIn("setuid", result.stderr)

    def test_an_ordinary_program_is_told_nothing(self):
        self.assertEqual(hearth("run", "--", "true").stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
