"""What a run consists of: one job for each program and row, for every runtime that can run it."""
import sys

from . import build, runtimes, sample, series, verdict


class Tempo:
    """How long things take: short and few for a first look, more for a verdict."""

    def __init__(self, quick, rounds):
        self.rounds = rounds or (3 if quick else verdict.FEWEST_ROUNDS)
        self.overhead_samples = 3 if quick else 5
        self.sample_us = 300 if quick else 500
        self.task_samples = 2 if quick else 4
        self.launches = 4 if quick else 8
        self.max_wait_us = 1000 if quick else 3000
        self.timeout = 60


def overhead_jobs(options, tempo, spin, found, compilers):
    jobs = []
    for compiler in compilers:
        program = build.program("overhead", compiler)
        listing = sample.run([program, "--list"], runtimes.environment(_default_for(found, compiler), options.threads), 20)
        groups = {}
        for line in listing.splitlines():
            name, group, _ = line.split("\t")
            if options.filter in name:
                groups.setdefault(group, []).append(name)

        def start(runtime, rows, program=program):
            command = [program, "--rows", ";".join(rows), "--samples", tempo.overhead_samples, "--sample-us", tempo.sample_us,
                       "--spin-min", spin, "--max-wait-us", tempo.max_wait_us]
            environment = runtimes.environment(runtime, options.threads, options.bound, extra=options.extra)
            return sample.run_rows(command, environment, tempo.timeout, runtime.library)

        users = [runtime for runtime in found if compiler in runtime.compilers]
        jobs += [series.Job("overhead", compiler, rows, users, start) for rows in groups.values()]
    return jobs


def _default_for(found, compiler):
    """A stock runtime if there is one, for questions that need no measurement."""
    wanted = {"gcc": "libgomp", "clang": "libomp"}[compiler]
    return next((runtime for runtime in found if runtime.name == wanted), found[0])


def task_jobs(options, tempo, spin, found, compilers):
    jobs = []
    for cutoff in (True, False) if options.no_cutoff else (True,):
        for task in build.TASKS:
            for shape in ((), ("--all",)):
                row = task + (" all" if shape else "")
                if options.filter not in row:
                    continue
                for compiler in compilers:
                    program = build.program(task, compiler)

                    def start(runtime, _, program=program, shape=shape, cutoff=cutoff):
                        command = [*runtime.launcher, program, *shape, "--json", "--samples", tempo.task_samples, "--budget-ms", 600,
                                   "--spin-min", spin, "--max-wait-us", tempo.max_wait_us]
                        environment = runtimes.environment(runtime, options.threads, options.bound, cutoff, options.extra)
                        return sample.run_rows(command, environment, tempo.timeout, runtime.library)

                    users = [runtime for runtime in found if compiler in runtime.compilers]
                    jobs.append(series.Job("tasks", compiler, [row], users, start, cutoff))
    return jobs


def startup_jobs(options, tempo, _, found, compilers):
    row = "start-up + region"
    if options.filter not in row:
        return []
    launcher = build.plain_program("launcher")
    jobs = []
    for compiler in compilers:
        program = build.program("startup", compiler)

        def start(runtime, _, program=program):
            environment = runtimes.environment(runtime, options.threads, options.bound, extra=options.extra)
            library_path = environment.pop("LD_LIBRARY_PATH")  # for the program, not for the launcher
            answer = sample.run_json([launcher, tempo.launches, tempo.max_wait_us, library_path, program], environment,
                                     tempo.timeout)
            return {row: answer}

        users = [runtime for runtime in found if compiler in runtime.compilers]
        jobs.append(series.Job("startup", compiler, [row], users, start))
    return jobs


def intel_or_none(options):
    if options.no_intel:
        return None
    try:
        return build.intel_library()
    except build.BuildError as error:
        print(f"bench: libiomp5 is left out: {error}", file=sys.stderr)
        return None
