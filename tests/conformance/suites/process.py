"""Child processes that cannot outlive the run.

Every compiler and every test runs in a session of its own, so that a test which forks, or which hangs with all its
threads spinning, is killed as a whole. The groups that are alive stand in one table, and kill_all() empties it when the
user presses Ctrl-C. Called from the worker threads of suites/gomp.py; the table is guarded by one lock.
"""

import os
import resource
import select
import signal
import subprocess
import threading
import time

# A test that runs wild must not take the machine with it. Only private writable memory is counted, so reserving a
# large address range is free.
DATA_LIMIT = 12 << 30

# What a test prints is kept up to this many bytes: a runtime that loops on a warning would fill the disk.
OUTPUT_LIMIT = 1 << 20

_lock = threading.Lock()
_groups = set()
_stopping = False


class Stopped(Exception):
    """The run is being interrupted; no new process may start."""


def limit_this_process():
    """Sets the limits that children inherit: no core files, bounded memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = DATA_LIMIT if hard == resource.RLIM_INFINITY else min(DATA_LIMIT, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def kill_all():
    """Kills every group that is alive and refuses new ones."""
    global _stopping
    with _lock:
        _stopping = True
        groups = list(_groups)
    for pid in groups:
        _kill_group(pid)


def start(argv, **options):
    """Popen in a group of its own; the caller must pass the process to finish()."""
    with _lock:
        if _stopping:
            raise Stopped()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        _groups.add(child.pid)
    return child


def finish(child):
    """Kills what is left of the child's group and reaps the child."""
    _kill_group(child.pid)
    child.wait()
    with _lock:
        _groups.discard(child.pid)


class Outcome:
    """How a process ended: its code (negative: signal), whether it ran out of time, what it said, how long it took."""

    def __init__(self, code, timed_out, output, seconds):
        self.code = code
        self.timed_out = timed_out
        self.output = output
        self.seconds = seconds

    def describe(self):
        if self.timed_out:
            return f"no end after {self.seconds:.0f} s"
        if self.code is not None and self.code < 0:
            try:
                return f"killed by {signal.Signals(-self.code).name}"
            except ValueError:
                return f"killed by signal {-self.code}"
        return f"exit status {self.code}"


def run(argv, timeout, cwd, env, log):
    """Runs argv with both streams into the file `log`, for at most `timeout` seconds."""
    begin = time.monotonic()
    timed_out = False
    with open(log, "wb") as sink:
        child = start(argv, cwd=cwd, env=env, stdout=sink, stderr=subprocess.STDOUT)
        try:
            # Waiting on a pidfd leaves the child unreaped, so its group's number cannot be reused before finish().
            ended = select.poll()
            pidfd = os.pidfd_open(child.pid)
            try:
                ended.register(pidfd, select.POLLIN)
                deadline = begin + timeout
                while not ended.poll(1000 * min(1.0, max(0.01, deadline - time.monotonic()))):
                    if time.monotonic() >= deadline or os.path.getsize(log) > 64 * OUTPUT_LIMIT:
                        timed_out = True
                        break
            finally:
                os.close(pidfd)
        finally:
            finish(child)
    if os.path.getsize(log) > OUTPUT_LIMIT:
        os.truncate(log, OUTPUT_LIMIT)
    with open(log, "rb") as source:
        output = source.read().decode("utf-8", "replace")
    return Outcome(None if timed_out else child.returncode, timed_out, output, time.monotonic() - begin)
