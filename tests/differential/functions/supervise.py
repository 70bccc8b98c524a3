# SPDX-License-Identifier: Apache-2.0
"""Runs the calls of a plan in child processes, so that a crash affects a single call."""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
BATCH = 80  # functions of one process, unless the plan says otherwise
STARTS = 400  # processes of one batch; a call that terminates its process needs another
HANGS = 2  # hanging calls of one function; the others are not made
NOT_RUN = ["not run"]
HANG = "does not return"


def run(plan, python, variables):
    """Return the outcome of every case, in the order of the plan."""
    outcomes = []
    functions = plan["functions"]
    batch = plan.get("batch", BATCH)
    with started(plan["module"], python, variables) as call:
        for start in range(0, len(functions), batch):
            part = plan | {"functions": functions[start : start + batch]}
            outcomes += run_batch(part, call)
    return outcomes


@contextlib.contextmanager
def started(module, python, variables):
    """Start a process that imports the module, and return a function that makes calls in a fork.

    The function returns the exit status of the fork; it raises if the process has ended.
    """
    command = [python, str(FOLDER / "caller.py"), module]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        tempfile.TemporaryFile("w+", errors="replace") as errors,
        subprocess.Popen(command, env=variables, text=True, stderr=errors, **pipes) as process,
    ):

        def call(*arguments):
            with contextlib.suppress(BrokenPipeError):
                print(json.dumps(arguments), file=process.stdin, flush=True)
            if status := process.stdout.readline():
                return int(status)
            errors.seek(0)
            raise RuntimeError(f"{module}: {python} did not start:\n{errors.read()}")

        yield call


def run_batch(plan, call):
    expected = sum(len(function["cases"]) for function in plan["functions"])
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="halfwarp-differential-") as folder:
        plan_file, journal = Path(folder, "plan.json"), Path(folder, "journal")
        plan_file.write_text(json.dumps(plan))
        for _ in range(STARTS):
            first = max(outcomes, default=-1) + 1
            read(journal, outcomes, call(str(plan_file), str(journal), first))
            skip_hanging(plan, outcomes)
            if len(outcomes) == expected:
                return [outcomes[number] for number in range(expected)]
            if first == max(outcomes, default=-1) + 1:
                print(f"{plan['module']}: the calls did not start", file=sys.stderr)
                break
    return [outcomes.get(number, NOT_RUN) for number in range(expected)]


def skip_hanging(plan, outcomes):
    """Make no further calls of a function that hangs."""
    start = 0
    for function in plan["functions"]:
        numbers = range(start, start + len(function["cases"]))
        start = numbers.stop
        hangs = sum(outcomes.get(n) == ["ends the process", HANG] for n in numbers)
        if hangs >= HANGS and max(outcomes) in numbers:
            outcomes |= {n: NOT_RUN for n in numbers if n not in outcomes}


def read(journal, outcomes, status):
    """Read the lines of a journal; a case without an outcome terminated the process."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    for line in lines:
        number, *outcome = json.loads(line)
        if outcome:
            outcomes[number] = outcome[0]
        elif number not in outcomes:
            outcomes[number] = ["ends the process", ending(status)]


def ending(status):
    if status == -signal.SIGALRM:
        return HANG
    return signal.Signals(-status).name if status < 0 else f"status {status}"
