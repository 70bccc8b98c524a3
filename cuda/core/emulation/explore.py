# SPDX-License-Identifier: Apache-2.0
"""Run a program with several seeds in adversarial mode, and collect what the checks find."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cuda.core.emulation import library, sarif


def main(arguments):
    """Run ``explore N [--] PROGRAM [ARG]...``; return 1 if a run failed or reported a mistake."""
    if len(arguments) < 2 or not arguments[0].isdigit():
        print("usage: explore N [--] PROGRAM [ARG]...", file=sys.stderr)
        return 2
    program = arguments[2:] if arguments[1] == "--" else arguments[1:]
    first_seeds, failures = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(arguments[0])):
            path = Path(folder, f"{seed}.jsonl")
            status = subprocess.run(program, env=environment(seed, path), check=False).returncode
            reports = sarif.read_reports(path) if path.exists() else []
            for report in reports:
                first_seeds.setdefault(sarif.key_of(report), (seed, report["text"]))
            if status and not reports:
                failures.setdefault(status, seed)
    for seed, text in first_seeds.values():
        print(f"{text}  repeat: {command(seed, program)}\n")
    for status, seed in failures.items():
        print(f"exit status {status} without a report\n  repeat: {command(seed, program)}\n")
    print(f"{arguments[0]} seeds: {len(first_seeds)} findings, {len(failures)} other failures")
    return int(bool(first_seeds or failures))


def options_for(seed):
    """Return the options of a run as environment variables."""
    chosen = {"MODE": "adversarial", "SEED": str(seed)}
    if library.PREFIX + "CHECK" not in os.environ:
        chosen["CHECK"] = "memory,sync,race,init,hazard,barrier,neighbor"
    return {library.PREFIX + name: value for name, value in chosen.items()}


def environment(seed, report):
    """Return the environment of a run."""
    chosen = options_for(seed) | {library.PREFIX + "REPORT": str(report)}
    return {**os.environ, "HALFWARP_BACKEND": "emulator", **chosen}


def command(seed, program):
    """Return the command that repeats a run."""
    variables = {"HALFWARP_BACKEND": "emulator"} | options_for(seed)
    return " ".join([f"{name}={value}" for name, value in variables.items()] + program)
