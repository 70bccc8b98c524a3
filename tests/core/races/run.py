# SPDX-License-Identifier: Apache-2.0
"""Runs race programs, each run in a child process: python tests/core/races/run.py.

A program of `programs/` exits with status 0 and prints nothing, whatever the timing of its threads.
Its seed selects the operations of each thread; timing adds variation, so one run shows little.
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
TIME_LIMIT = 120  # limit in seconds for one run on a busy machine
NOTICES = ("halfwarp: CUDA is emulated", "emulator: the process ends with")


def names():
    """Return the names of the programs."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "harness")


def describe_status(status):
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


def run(name, seed, **environment):
    """Run a program once, and return its problem or None."""
    command = [sys.executable, "-X", "faulthandler", str(PROGRAMS / f"{name}.py"), str(seed)]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired as stuck:
        return f"{name} {seed}: still running after {TIME_LIMIT} s\n{stuck.stderr or ''}"
    output = [line for line in done.stderr.splitlines() if not line.startswith(NOTICES)]
    if done.returncode == 0 and not output and not done.stdout:
        return None
    return "\n".join((f"{name} {seed}: {describe_status(done.returncode)}", done.stdout, *output))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help=f"of {', '.join(names())}")
    parser.add_argument("--runs", type=int, default=10, help="of each program (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the first run (default: 0)")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names()):
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    failed = 0
    for name in options.names or names():
        problems = [run(name, seed) for seed in range(options.seed, options.seed + options.runs)]
        wrong = [problem for problem in problems if problem]
        failed += len(wrong)
        print(f"{name}: {len(wrong)} of {options.runs} runs failed", flush=True)
        for problem in wrong[:3]:
            print(problem, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
