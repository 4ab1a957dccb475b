"""Starts one benchmark process and returns its samples; knows what a process may do wrong.

A process that hangs is killed with its group, one that ends badly or was served by another library than it should have
been is an error of that runtime: the row shows it, and the run goes on.
"""
import json
import os
import pathlib
import signal
import subprocess


class SampleError(Exception):
    """What went wrong, in one line."""


def run(command, environment, timeout):
    """Standard output of the command."""
    process = subprocess.Popen([str(part) for part in command], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _kill(process)
        raise SampleError(f"hung: killed after {timeout} s") from None
    except BaseException:  # Ctrl-C above all: leave no process behind
        _kill(process)
        raise
    if process.returncode:
        end = f"signal {signal.Signals(-process.returncode).name}" if process.returncode < 0 else f"exit status {process.returncode}"
        last = errors.strip().splitlines()[-1] if errors.strip() else "no message"
        raise SampleError(f"{end}: {last}")
    return output


def _kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def run_json(command, environment, timeout):
    output = run(command, environment, timeout)
    try:
        return json.loads(output)
    except json.JSONDecodeError as error:
        raise SampleError(f"printed no JSON: {error}") from None


def run_rows(command, environment, timeout, library):
    """{row: {"ns": [...], "quiet": n}} of a benchmark program, after checking who served it."""
    answer = run_json(command, environment, timeout)
    served_by = pathlib.Path(answer["runtime_file"]).resolve()
    if served_by != library:
        raise SampleError(f"served by {served_by}, not by {library}")
    if answer["threads"] != int(environment["OMP_NUM_THREADS"]):
        raise SampleError(f"ran with {answer['threads']} threads instead of {environment['OMP_NUM_THREADS']}")
    return answer["rows"]
