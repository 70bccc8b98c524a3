# SPDX-License-Identifier: Apache-2.0
"""Run correct programs with all checks and many seeds, and list each report.

    python -m tests.emulator.checks.seeds SEEDS [-j JOBS] [--only GROUP,...] [--first SEED]
                                          [--seconds LIMIT] [--reports FOLDER]

The exit status is 1 if a program has a report, fails, or has another result than with the first
seed. `tests/emulator/checks/seeds/__main__.py` is also a script, for an installed package.
"""

import argparse
import functools
import json
import multiprocessing
import os
import runpy
import site
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

if not __package__:
    sys.path[0:1] = []
    sys.path.append(str(Path(__file__).resolve().parents[4]))

from tests.emulator.checks.seeds import preload, programs

CHECKS = "memory,sync,race,init,hazard,barrier,neighbor"
# Kinds of a check; others are faults that a test causes on purpose.
KINDS = {"race", "uninitialized", "hazard", "barrier", "async-copy", "neighbor"}


def environment(seed, report):
    """Return the variables of a run."""
    chosen = {"CHECK": CHECKS, "MODE": "adversarial", "SEED": seed, "REPORT": report}
    variables = {f"HALFWARP_EMULATOR_{name}": str(value) for name, value in chosen.items()}
    return variables


class Task:
    """A program with a seed, in a process of its own."""

    def __init__(self, group, name, seed, program, folder):
        self.group, self.name, self.seed, self.program = group, name, seed, program
        self.report = Path(folder, f"{group}-{name}-{seed}.jsonl")
        self.output = self.report.with_suffix(".txt")
        self.result = self.report.with_suffix(".result")

    def variables(self):
        """Return the options of the run."""
        return environment(self.seed, self.report)

    def start(self):
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self.run_in_child()

    def run_in_child(self):
        """Run the program, and end the process without the parent's exit functions."""
        status = 1
        try:
            os.environ.update(self.variables())
            if not isinstance(self.program, list):  # planted mistakes may never end
                os.environ.setdefault("HALFWARP_EMULATOR_STEP_LIMIT", "2000000")
            output = os.open(self.output, os.O_CREAT | os.O_WRONLY)
            os.dup2(output, 1)
            os.dup2(output, 2)
            if isinstance(self.program, list):
                os.chdir(self.report.parent)
                if self.group == "examples":
                    preload.share_programs(Path(self.report.parent, "compiled"))
                self.run_script()
            else:
                self.result.write_text(json.dumps(self.program()), encoding="utf-8")
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def run_script(self):
        """Run a script of Python as a new process does, with the imports of the parent."""
        script, *arguments = self.program
        arguments = [str(self.result) if each == "RESULT" else each for each in arguments]
        sys.argv = [script, *arguments]
        if script.endswith(".py"):
            sys.path.insert(0, str(Path(script).parent))
            runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_module(script, run_name="__main__", alter_sys=True)


class Summary:
    """The reports of the runs, by mistake."""

    def __init__(self):
        self.runs, self.reports, self.failures, self.results = {}, {}, {}, {}

    def add(self, task, status):
        from cuda.core.emulation import sarif

        self.runs.setdefault(task.group, {}).setdefault(task.seed, 0)
        self.runs[task.group][task.seed] += 1
        for report in sarif.read_reports(task.report) if task.report.exists() else ():
            if report["kind"] in KINDS:
                key = (task.group, task.name, sarif.key_of(report))
                entry = self.reports.setdefault(key, [task.seed, 0, report["text"]])
                entry[1] += 1
        if status and task.group != "tests" and task.group != "numba":
            text = task.output.read_text(errors="replace")[-1500:]
            self.failures.setdefault((task.group, task.name), (task.seed, status, text))
        if task.result.exists():
            result = task.result.read_text(encoding="utf-8")
            first = self.results.setdefault((task.group, task.name), (task.seed, result))
            if first[1] != result:
                key = (task.group, f"{task.name}: the result differs from that of seed {first[0]}")
                self.failures.setdefault(key, (task.seed, status, result))
        for path in (task.report, task.output, task.result):
            path.unlink(missing_ok=True)

    def passed(self, group):
        """Return the number of passed tests of the first seed, if the programs tell it."""
        results = [json.loads(text) for (of, _), (_, text) in self.results.items() if of == group]
        outcomes = [each for result in results if result for each in result.values()]
        if "passed" not in outcomes:
            return ""
        skipped = outcomes.count("skipped")
        failed = len(outcomes) - skipped - outcomes.count("passed")
        return f", {outcomes.count('passed')} tests passed, {skipped} skipped, {failed} failed"

    def print(self):
        for (group, name, key), (seed, count, text) in self.reports.items():
            print(f"--- {group} {name}, seed {seed}, in {count} runs: {key}\n{text}")
        for (group, name), (seed, status, text) in self.failures.items():
            print(f"--- {group} {name}, seed {seed}: status {status}\n{text}")
        for group, seeds in self.runs.items():
            print(f"{group}: {len(seeds)} seeds, {sum(seeds.values())} runs{self.passed(group)}")
        print(f"{len(self.reports)} reports, {len(self.failures)} failures")


def prepared(names):
    """Return the programs of the groups, by group and name."""
    all_programs = {}
    for group in names:
        if group in programs.FORKED:
            compile_code, run = programs.FORKED[group]
            with multiprocessing.get_context("fork").Pool(1) as pool:
                code = pool.apply(compile_code)
            all_programs[group, group] = functools.partial(run, code)
        else:
            for command in programs.COMMANDS[group]():
                path = Path(command[0] if command[-1] == "corrected" else command[-1])
                all_programs[group, f"{path.parent.name}.{path.stem}"] = command
    return all_programs


def run_all(tasks, jobs, limit, summary):
    """Run tasks in parallel until the limit of seconds, and add them to a summary."""
    running, end = {}, time.monotonic() + limit
    for task in tasks:
        if time.monotonic() > end:
            break
        if len(running) == jobs:
            wait(summary, running)
        task.start()
        running[task.pid] = task
    while running:
        wait(summary, running)


def wait(summary, running):
    pid, status = os.wait()
    if pid in running:
        summary.add(running.pop(pid), os.waitstatus_to_exitcode(status))


def set_paths():
    """Let commands find this package, and packages that open the driver find the emulator."""
    import cuda.core

    folders = list(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    for each in folders:
        site.addsitedir(each)
    home = Path(cuda.core.__file__).resolve().parents[2]
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, str(home)])
    os.environ |= {
        "HALFWARP_BACKEND": "emulator",
        "HALFWARP_EMULATOR_DEVICES": "2",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    call = [sys.executable, "-m", "cuda.core.emulation", "path"]
    done = subprocess.run(call, cwd="/", capture_output=True, text=True, check=True)
    os.environ["LD_LIBRARY_PATH"] = done.stdout.strip()


def main():
    groups = [*programs.FORKED, *programs.COMMANDS]
    parser = argparse.ArgumentParser(prog="seeds", description=__doc__.splitlines()[0])
    parser.add_argument("seeds", type=int)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--only", default=",".join(groups), help="groups, with commas between")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run later")
    chosen = parser.parse_args()
    set_paths()
    preload.load()
    summary = Summary()
    with tempfile.TemporaryDirectory() as folder:
        everything = prepared(chosen.only.split(","))
        seeds = range(chosen.first, chosen.first + chosen.seeds)
        tasks = (
            Task(group, name, seed, program, folder)
            for seed in seeds
            for (group, name), program in everything.items()
        )
        run_all(tasks, chosen.jobs, chosen.seconds, summary)
    summary.print()
    return int(bool(summary.reports or summary.failures))


if __name__ == "__main__":
    sys.exit(main())
