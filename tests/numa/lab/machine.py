"""Boots one virtual machine, runs a batch of jobs in it one after another, and brings their results back.

A share on the host holds batch.sh, a script per job, and what each leaves: <n>.out, <n>.err, <n>.status and, when the
machine carries the instrument, <n>.regions with a line of JSON per region of interest.

QEMU dies with this process, whatever ends it: on an exception and on Ctrl-C it is killed here, and a process that is
itself killed takes QEMU along (PR_SET_PDEATHSIG).
"""
import ctypes
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from . import parts

# thread=multi can hang programs of eight threads, and moves tasks more than hardware would. A machine that tells time (clock.py)
# needs it; there the plugin lets spinning CPUs sleep, which cures the hanging.
ACCELERATOR = "tcg,thread=single,tb-size=512"
TIMED_ACCELERATOR = "tcg,thread=multi,tb-size=512"
BOOT_LIMIT_S = 2400
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class MachineFailed(Exception):
    """The machine did not run its batch to the end."""


@dataclasses.dataclass
class Job:
    name: str
    command: list                  # words, or one string for the shell
    environment: dict = dataclasses.field(default_factory=dict)
    limit_s: int = 120


@dataclasses.dataclass
class Result:
    job: Job
    status: int
    out: str
    err: str
    regions: list
    seconds: float

    @property
    def timed_out(self):
        return self.status in (124, 137)


def _write_batch(share, jobs, environment):
    lines = ["#!/bin/sh", f"share={shlex.quote(str(share))}", 'echo up > "$share/up"']
    for number, job in enumerate(jobs):
        settings = {**environment, **job.environment}
        script = ["#!/bin/sh", f"cd {shlex.quote(str(parts.ROOT))}"]
        script += [f"export {name}={shlex.quote(str(value))}" for name, value in sorted(settings.items())]
        script += [job.command if isinstance(job.command, str) else f"exec {shlex.join(map(str, job.command))}"]
        (share / f"{number}.sh").write_text("\n".join(script) + "\n")
        lines += [f'timeout --kill-after=5 {job.limit_s} /bin/sh "$share/{number}.sh" '
                  f'> "$share/{number}.out" 2> "$share/{number}.err" < /dev/null',
                  f'echo $? > "$share/{number}.part"',
                  f'[ ! -e "$share/regions" ] || mv "$share/regions" "$share/{number}.regions"',
                  f'mv "$share/{number}.part" "$share/{number}.status"']
    (share / "batch.sh").write_text("\n".join(lines) + "\n")


def command_line(topology, share, measuring, kernel_arguments=(), llc_kib=2048, l2_kib=256, timed=None):
    kernel = parts.kernel()
    result = [parts.qemu(), "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
              "-serial", f"file:{share}/console", "-no-reboot", "-machine", "q35", "-cpu", "max",
              "-accel", TIMED_ACCELERATOR if timed else ACCELERATOR,
              *topology.qemu_arguments(),
              "-kernel", str(kernel / "vmlinuz"), "-initrd", str(parts.initramfs(kernel)),
              # A busy host can miss the timer check of the boot.
              "-append", " ".join(["console=ttyS0", "no_timer_check", "panic=-1", "quiet", "loglevel=4", f"lab.share={share}",
                                   *kernel_arguments]),
              "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
              "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
              "-fsdev", f"local,id=share,path={share},security_model=none",
              "-device", "virtio-9p-pci,fsdev=share,mount_tag=share"]
    if timed:
        result += ["-plugin", f"{parts.timed_plugin()},model={timed},out={share}/regions"]
    elif measuring:
        arguments = [str(parts.plugin()), *topology.plugin_arguments(), f"llc={llc_kib}", f"l2={l2_kib}",
                     f"out={share}/regions"]
        result += ["-plugin", ",".join(arguments)]
    return result


def _die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _result(share, number, job, seconds):
    def text(kind):
        path = share / f"{number}.{kind}"
        return path.read_text(errors="replace") if path.exists() else ""
    regions = [json.loads(line) for line in text("regions").splitlines()]
    return Result(job, int(text("status")), text("out"), text("err"), regions, seconds)


def run(topology, jobs, measuring=False, kernel_arguments=(), environment=None, limit_s=3600, on_boot=None,
        on_result=None, llc_kib=2048, l2_kib=256, timed=None):
    """Returns a Result per job. Raises MachineFailed if the machine dies or runs out of time; then says what it said.
    `timed` is a file that tells the plugin how long memory takes (clock.py)."""
    share = pathlib.Path(tempfile.mkdtemp(prefix="hearth-numa.", dir="/var/tmp"))
    results = []
    try:
        _write_batch(share, jobs, environment or {})
        command = command_line(topology, share, measuring, kernel_arguments, llc_kib, l2_kib, timed)
        with open(share / "qemu", "wb") as said:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                       preexec_fn=_die_with_parent)
        try:
            _follow(process, share, jobs, results, limit_s, on_boot, on_result)
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(share, ignore_errors=True)
    return results


def _follow(process, share, jobs, results, limit_s, on_boot, on_result):
    start = last = time.monotonic()
    booted = False
    while True:
        running = process.poll() is None
        now = time.monotonic()
        if not booted and (share / "up").exists():
            booted = True
            if on_boot:
                on_boot(now - start)
            last = now
        while len(results) < len(jobs) and (share / f"{len(results)}.status").exists():
            result = _result(share, len(results), jobs[len(results)], now - last)
            results.append(result)
            last = now
            if on_result:
                on_result(result)
        if not running:
            break
        if now - start > limit_s or (not booted and now - start > BOOT_LIMIT_S):
            raise MachineFailed(f"no end after {now - start:.0f} s, in {_where(booted, jobs, results)}\n{_said(share)}")
        time.sleep(0.05)
    if len(results) < len(jobs):
        raise MachineFailed(f"the machine stopped (QEMU's status {process.returncode}) in "
                            f"{_where(booted, jobs, results)}\n{_said(share)}")


def _where(booted, jobs, results):
    return "the boot" if not booted else f"job {jobs[len(results)].name}" if len(results) < len(jobs) else "the shutdown"


def _said(share):
    return "\n".join(f"--- {name}\n{(share / name).read_text(errors='replace')[-3000:]}"
                     for name in ("qemu", "console") if (share / name).exists())


def stop_on_signals():
    """SIGTERM and SIGHUP unwind like Ctrl-C, so that `run` cleans up."""
    def leave(number, _frame):
        sys.exit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
