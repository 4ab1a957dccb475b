#!/usr/bin/env python3
"""Runs one guest program against the library that was built, in a process of its own, and checks how it ended and what was said.

    run_guest.py --case NAME --compiler gcc|clang --lib FOLDER --work FOLDER

The programs lie beside this file; CASES says with which arguments and environment each is run, and what has to come of it.
Exit status 77: this machine cannot run the case (no such compiler, no right to make a setuid file or a cgroup).
"""

import argparse
import atexit
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77


class Case:
    def __init__(self, program, args=(), env=None, status=0, err=(), times=1, out=None, timeout=60, quiet=False,
                 last=None, verify=None, how=None):
        self.program = program
        self.args = list(args)
        self.env = env or {}
        self.status = status      # exit status; negative: the signal that ends it. Or one per compiler
        self.err = err            # expressions, each of which must match `times` lines of stderr. Or a list per compiler
        self.times = times
        self.out = out            # expression that stdout must match
        self.timeout = timeout
        self.quiet = quiet        # stderr must be empty
        self.last = last          # expression that the last line of stderr must match
        self.verify = verify      # function of the verification report's line
        self.how = how            # one of the functions below, which starts the program in a special way


NAMES_FALLBACK = r"^hearth: the program crashed inside a parallel region \({}\)\. .*HEARTH=off"

CASES = {
    "foreign-threads": Case("foreign_threads", quiet=True),
    "forks": Case("forks", quiet=True, timeout=100),
    "exit-by-primary": Case("exit_inside", ["0"], status=7, verify=lambda line: line["regions"] == 1),
    "exit-by-worker": Case("exit_inside", ["3"], status=7, verify=lambda line: line["regions"] == 1),
    "main-thread-leaves": Case("main_leaves", status=9, quiet=True),
    "dlopen": Case("opens_part", ["{part}"], quiet=True),
    "threads-refused": Case("refused", ["nproc"], err=[r"cannot start another thread \(pthread_create"]),
    "stacks-refused": Case("refused", ["memory"], env={"OMP_STACKSIZE": "256M"},
                           err=[r"cannot start another thread \(pthread_create"]),
    "stack-too-small": Case("teams", env={"OMP_STACKSIZE": "1", "OMP_NUM_THREADS": "4"}, out=r"^4$", err=["OMP_STACKSIZE"]),
    "stack-huge": Case("teams", env={"OMP_STACKSIZE": "100000G", "OMP_NUM_THREADS": "4"}, out=r"^1$",
                       err=["cannot start another thread.*OMP_STACKSIZE"]),
    "stack-given": Case("teams", env={"OMP_STACKSIZE": "512K", "OMP_NUM_THREADS": "4"}, out=r"^4$", quiet=True),
    "thread-limit": Case("teams", env={"OMP_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "8"}, out=r"^3$", quiet=True),
    "first-region-on-a-small-stack": Case("small_stack", quiet=True),
    "most-threads": Case("refused", ["most"], err=[r"cannot start another thread \(pthread_create"]),
    "places-for-all": Case("teams", env={"OMP_PLACES_ALL": "nonsense", "OMP_NUM_THREADS": "2"}, out=r"^2$",
                           err=['OMP_PLACES_ALL="nonsense": unknown place name']),
    "allocator-for-all": Case("teams", env={"OMP_ALLOCATOR_ALL": "nonsense", "OMP_NUM_THREADS": "2"}, out=r"^2$",
                              err=['OMP_ALLOCATOR_ALL="nonsense": unknown allocator']),
    "device-thread-limit": Case("teams", env={"KMP_DEVICE_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "8"}, out=r"^3$",
                                err=["KMP_DEVICE_THREAD_LIMIT=3"]),
    "signals": Case("signals", quiet=True),
    "crash-in-region": Case("crash", ["inside", "segv"], status=-signal.SIGSEGV, last=NAMES_FALLBACK.format("SIGSEGV")),
    "abort-in-region": Case("crash", ["inside", "abort"], status=-signal.SIGABRT, last=NAMES_FALLBACK.format("SIGABRT")),
    "crash-names-no-stack": Case("crash", ["inside", "segv"], status=-signal.SIGSEGV, err=["OMP_STACKSIZE"], times=0),
    "stack-overflow-in-region": Case("crash", ["inside", "stack"], status=-signal.SIGSEGV,
                                     err=["the stack of a thread .* is full; OMP_STACKSIZE"],
                                     last=NAMES_FALLBACK.format("SIGSEGV")),
    "crash-outside": Case("crash", ["outside", "segv"], status=-signal.SIGSEGV, quiet=True),
    "crash-handled": Case("crash", ["handled", "segv"], status=40 + signal.SIGSEGV, quiet=True),
    "two-runtimes": Case("two_runtimes", ["{second}"], err=[r"another OpenMP runtime is used .*second"]),
    "verify-names-second": Case("two_runtimes", ["{second}"],
                                verify=lambda line: any("second" in path for path in line["foreign"])),
    "unbound": Case("affinity", ["unbound"], quiet=True),
    "unbound-wandering": Case("affinity", ["unbound-wandering"], quiet=True),
    "unbound-nested": Case("affinity", ["unbound-nested"], quiet=True),
    "bound": Case("affinity", ["bound"], env={"OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}, quiet=True),
    "bound-gomp": Case("affinity", ["bound"], env={"GOMP_CPU_AFFINITY": "{cpus}"}, quiet=True),
    "bound-kmp": Case("affinity", ["bound"], env={"KMP_AFFINITY": "granularity=fine,compact"}, quiet=True),
    "bound-refused": Case("affinity", ["refused"], env={"OMP_PLACES": "threads"}, err=["sched_setaffinity is refused"]),
    "cpus-narrowed": Case("affinity", ["narrowed"], env={"OMP_PLACES": "threads"}, err=["sched_setaffinity is refused"]),
    "one-cpu": Case("threads_wait", how="on_one_cpu", quiet=True),
    "taskloop-preempted": Case("taskloop_preempted", how="on_one_cpu", quiet=True),
    "large-tasks": Case("large_tasks", quiet=True),
    "one-cpu-active": Case("threads_wait", env={"OMP_WAIT_POLICY": "active"}, how="on_one_cpu", quiet=True),
    "caches": Case("caches", how="with_two_caches", quiet=True,
                   env={"HEARTH_LOCATION": "llc", "HEARTH_POLICY": "home-cache", "HEARTH_VICINITY": "1", "OMP_PROC_BIND": "true",
                        "OMP_PLACES": "{ends}"}),
    "quota-of-one": Case("threads_wait", how="under_quota", quiet=True),
    "quota-of-one-active": Case("threads_wait", env={"OMP_WAIT_POLICY": "active"}, how="under_quota", quiet=True),
    "setuid": Case("teams", env={"HEARTH_POLICY": "nonsense", "OMP_NUM_THREADS": "2"}, how="setuid", out=r"^2$", quiet=True),
    "not-setuid": Case("teams", env={"HEARTH_POLICY": "nonsense", "OMP_NUM_THREADS": "2"}, out=r"^2$",
                       err=[r'HEARTH_POLICY="nonsense".*legal']),
    "display-env": Case("teams", env={"OMP_DISPLAY_ENV": "true", "OMP_NUM_THREADS": "3"}, out=r"^3$",
                        err=[r"OPENMP DISPLAY ENVIRONMENT BEGIN", r"OMP_NUM_THREADS = '3'", r"OPENMP DISPLAY ENVIRONMENT END",
                             r" OMP_STACKSIZE = '[0-9]+[BKMG]'$", r" OMP_WAIT_POLICY = 'PASSIVE'$"]),
    "display-env-spins": Case("teams", env={"OMP_DISPLAY_ENV": "verbose", "OMP_NUM_THREADS": "3", "KMP_BLOCKTIME": "infinite",
                                            "KMP_STACKSIZE": "3M"}, out=r"^3$",
                              err=[r" OMP_STACKSIZE = '3M'$", r" OMP_WAIT_POLICY = 'ACTIVE'$", r" KMP_BLOCKTIME = 'infinite'$",
                                   r" HEARTH_MACHINE = ''$"]),
    "error-directive": Case("error_directive", status={"gcc": 1, "clang": -signal.SIGABRT}, err={
        "gcc": ["^libgomp: error directive encountered$", "^libgomp: error directive encountered: beware$", "^libgomp: error directive encountered: (long ){1000}tail$",
                "^libgomp: fatal error: error directive encountered: the end$"],
        "clang": [r"^OMP: Warning #283: \S*error_directive\.c:4:\d+: Encountered user-directed warning\.$",
                  r"^OMP: Warning #283: \S*error_directive\.c:5:\d+: Encountered user-directed warning: beware\.$", r"warning: (long ){1000}tail\.$",
                  r"^OMP: Error #282: \S*error_directive\.c:7:\d+: Encountered user-directed error: the end\.$"]}),
    "threads-list": Case("threads_list", err=[r"seven threads are wanted \(7 asked for, 1 given\)"]),
    "icvs": Case("icvs", err=["omp_set_schedule", "omp_set_max_active_levels"]),
}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def build(compiler, work):
    """The compiler's command, and the folder for what it makes."""
    command = {"gcc": ["gcc", "-fopenmp"], "clang": ["clang-19", "-fopenmp"]}[compiler]
    if shutil.which(command[0]) is None:
        skip(f"no {command[0]} here")
    folder = os.path.join(work, compiler)
    os.makedirs(folder, exist_ok=True)
    return command, folder


def compile_one(command, folder, lib, name, kind):
    source = os.path.join(HERE, name + ".c")
    target = os.path.join(folder, name + (".so" if kind != "program" else ""))
    flags = ["-O1", "-g", "-w", "-pthread", f"-Wl,-rpath,{lib}", f"-L{lib}"]
    if kind == "object":
        flags += ["-shared", "-fPIC"]
    call = list(command)
    if kind == "plain":
        call = [command[0]]
    if kind == "second":
        call, flags = [command[0]], flags + ["-shared", "-fPIC"]
    # Under a name of its own first: several cases may build the same program side by side.
    temporary = f"{target}.{os.getpid()}"
    subprocess.run(call + flags + [source, "-o", temporary, "-ldl"], check=True)
    os.replace(temporary, target)
    return target


def on_one_cpu(call):
    cpu = min(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cpu)] + call


def with_two_caches(call):
    """In a mount namespace of its own, where sysfs says that each half of the CPUs has a last-level cache."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip("one CPU")
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--map-root-user", "--mount", "true"], check=False).returncode != 0:
        skip("no right to make a mount namespace")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    mounts = []
    for number, half in enumerate((cpus[:len(cpus) // 2], cpus[len(cpus) // 2:])):
        with open(f"{folder}/{number}", "w", encoding="ascii") as file:
            file.write(",".join(map(str, half)) + "\n")
        for cpu in half:
            caches = glob.glob(f"/sys/devices/system/cpu/cpu{cpu}/cache/index*")
            if not caches:
                skip("sysfs shows no caches")
            last = max(caches, key=lambda cache: int(open(f"{cache}/level", encoding="ascii").read()))
            mounts.append(f"mount --bind {folder}/{number} {last}/shared_cpu_list || exit {SKIP}")
    if len(glob.glob("/sys/devices/system/node/node[0-9]*")) > 1:
        skip("several nodes")
    script = "\n".join(mounts) + '\nexec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"] + call


def under_quota(call):
    """One CPU's time out of all CPUs, by a cgroup of version 1 (the machines that CI runs on let root make one)."""
    base = None
    for line in open("/proc/self/mountinfo", encoding="ascii"):
        fields, _, options = line.partition(" - ")
        kind, _, flags = options.split()[:3]
        if kind == "cgroup" and "cpu" in flags.split(","):
            base = fields.split()[4]
    if base is None:
        skip("no cgroup of version 1 with the cpu controller")
    group = os.path.join(base, f"hearth-guest-{os.getpid()}")
    try:
        os.mkdir(group)
        with open(os.path.join(group, "cpu.cfs_quota_us"), "w", encoding="ascii") as file:
            file.write("100000")
        with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write("0")
    except OSError as error:
        skip(f"no right to make a cgroup ({error})")
    atexit.register(leave_group, base, group)
    return call


def leave_group(base, group):
    with open(os.path.join(base, "cgroup.procs"), "w", encoding="ascii") as file:
        file.write("0")
    os.rmdir(group)


def setuid(call):
    if os.geteuid() != 0:
        skip("only root can make a program setuid to somebody else")
    copy = call[0] + ".setuid"
    shutil.copy(call[0], copy)
    os.chown(copy, 65534, 65534)
    os.chmod(copy, 0o6755)
    return [copy] + call[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=sorted(CASES))
    parser.add_argument("--compiler", choices=["gcc", "clang"], default="gcc")
    parser.add_argument("--lib", help="folder with libgomp.so.1 and libomp.so.5")
    parser.add_argument("--work", help="where programs are built")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return 0

    case = CASES[options.case]
    lib = os.path.abspath(options.lib)
    if not os.path.exists(os.path.join(lib, "libgomp.so.1")):
        sys.exit(f"{lib} holds no library: the stock one would be tested")
    command, folder = build(options.compiler, os.path.abspath(options.work))
    kind = "plain" if case.program == "opens_part" else "program"
    program = compile_one(command, folder, lib, case.program, kind)
    words = {"{part}": lambda: compile_one(command, folder, lib, "part", "object"),
             "{second}": lambda: compile_one(command, folder, lib, "second_runtime", "second"),
             "{ends}": lambda: "{{{}}},{{{}}}".format(min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))),
             "{cpus}": lambda: ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))}
    args = [words[arg]() if arg in words else arg for arg in case.args]

    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("OMP_", "GOMP_", "KMP_", "HEARTH_"))}
    env.update({name: words[value]() if value in words else value for name, value in case.env.items()})
    report = os.path.join(folder, f"{options.case}.verify")
    if case.verify is not None:
        if os.path.exists(report):
            os.unlink(report)
        env["HEARTH_VERIFY_FILE"] = report

    call = [program] + args
    if case.how is not None:
        call = globals()[case.how](call)
    try:
        done = subprocess.run(call, env=env, capture_output=True, text=True, timeout=case.timeout, check=False)
    except subprocess.TimeoutExpired as late:
        print(f"hangs: not done after {case.timeout} s\n{late.stdout}\n{late.stderr}")
        return 1
    if done.returncode == SKIP:
        skip(done.stderr)

    def expected(value):
        return value[options.compiler] if isinstance(value, dict) else value

    problems = []
    lines = done.stderr.splitlines()
    if done.returncode != expected(case.status):
        problems.append(f"exit status {done.returncode}, expected {expected(case.status)}")
    for expression in expected(case.err):
        count = sum(1 for line in lines if re.search(expression, line))
        if count != case.times:
            problems.append(f"{count} lines on stderr match {expression!r}, expected {case.times}")
    if case.quiet and lines:
        problems.append("stderr is not empty")
    if case.last is not None and (not lines or not re.search(case.last, lines[-1])):
        problems.append(f"the last line on stderr does not match {case.last!r}")
    if case.out is not None and not re.search(case.out, done.stdout, re.MULTILINE):
        problems.append(f"stdout does not match {case.out!r}")
    if case.verify is not None:
        if not os.path.exists(report):
            problems.append("no verification report")
        else:
            with open(report, encoding="ascii") as file:
                line = json.loads(file.readlines()[-1])
            if not case.verify(line):
                problems.append(f"the verification report says {line}")
    if problems:
        print("\n".join(problems))
        print(f"--- {' '.join(call)}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
