# SPDX-License-Identifier: Apache-2.0
"""Run a program with several seeds in adversarial mode, and collect what the checks find."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cuda.core.emulation import library, sarif

_MOST_CHOICES = 1 << 20
_MOST_RUNS = 200


def main(arguments):
    """Run ``explore N [--] PROGRAM [ARG]...``; return 1 if a run failed or reported a mistake."""
    program = arguments[2:] if arguments[1:2] == ["--"] else arguments[1:]
    if not program or not arguments[0].isdecimal() or int(arguments[0]) == 0:
        print("usage: explore N [--] PROGRAM [ARG]...", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory() as folder:
            return explore(int(arguments[0]), Runs(program, folder))
    except OSError as error:
        print(f"explore: {program[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


def explore(seeds, runs):
    first_seeds = {}  # by the key of a finding, or the status of a run without one
    for seed in range(seeds):
        for key in runs.outcome(seed):
            first_seeds.setdefault(key, seed)
    for key, seed in first_seeds.items():
        choices = smallest_schedule(runs, seed, key)
        text = runs.outcome(seed, choices).get(key) or runs.outcome(seed)[key]
        print(f"{text}{schedule_text(choices)}  repeat: {runs.command(seed, choices)}\n")
    failures = sum(isinstance(key, int) for key in first_seeds)
    print(f"{seeds} seeds: {len(first_seeds) - failures} findings, {failures} other failures")
    return int(bool(first_seeds))


def smallest_schedule(runs, seed, key):
    """Return the choices of a seed that a finding needs, or None if it does not repeat."""
    count = shortest_schedule(runs, seed, key)
    if count is None:
        return None
    return fewest_choices(range(1, count + 1), lambda kept: key in runs.outcome(seed, kept))


def shortest_schedule(runs, seed, key):
    """Return how many first choices of a seed a finding needs; None if it does not repeat."""
    low, high = -1, 0  # with `low` choices the finding is absent
    while key not in runs.outcome(seed, range(1, high + 1)):
        low, high = high, max(1, 2 * high)
        if high > _MOST_CHOICES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if key in runs.outcome(seed, range(1, middle + 1)):
            high = middle
        else:
            low = middle
    return high


def fewest_choices(choices, fails):
    """Return choices of which each is needed, by delta debugging (Zeller, Hildebrandt, 2002).

    After `_MOST_RUNS` runs the result may have choices that are not needed.
    """
    choices, parts, runs = tuple(choices), 2, 0
    while len(choices) > 1 and runs < _MOST_RUNS:
        size = -(-len(choices) // parts)
        pieces = [choices[at : at + size] for at in range(0, len(choices), size)]
        rests = [tuple(each for each in choices if each not in set(piece)) for piece in pieces]
        candidates = [*pieces, *rests] if len(pieces) > 2 else pieces
        for number, candidate in enumerate(candidates):
            runs += 1
            if fails(candidate):
                is_piece = number < len(pieces)
                choices, parts = candidate, 2 if is_piece else max(len(pieces) - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(choices))
    return choices


def ranges_of(choices):
    """Return the text of ascending choices for the option ``SCHEDULE``."""
    ranges = []
    for each in choices:
        if ranges and ranges[-1][1] == each - 1:
            ranges[-1][1] = each
        else:
            ranges.append([each, each])
    return ",".join(f"{first}-{last}" for first, last in ranges) or "0"


def schedule_text(choices):
    if choices is None:
        return "  schedule: all choices of the seed\n"
    if not choices:
        return "  schedule: no choice of the seed, only defaults\n"
    number = f"{len(choices)} choice{'s' * (len(choices) != 1)}"
    return f"  schedule: {number} of the seed ({ranges_of(choices)}), else the default\n"


class Runs:
    """The runs of a program, each in a process of its own."""

    def __init__(self, program, folder):
        self.program, self.folder, self.outcomes = program, folder, {}

    def outcome(self, seed, choices=None):
        """Return the text of each finding by its key, or of a failure by its status."""
        choices = None if choices is None else tuple(choices)
        if (seed, choices) not in self.outcomes:
            path = Path(self.folder, f"{len(self.outcomes)}.jsonl")
            options = self.variables(seed, choices) | {library.PREFIX + "REPORT": str(path)}
            status = self.run(options)
            reports = sarif.read_reports(path) if path.exists() else []
            texts = {}
            for report in reports:
                texts.setdefault(sarif.key_of(report), report["text"])
            if status and not reports:
                texts[status] = f"exit status {status} without a report\n"
            self.outcomes[seed, choices] = texts
        return self.outcomes[seed, choices]

    def run(self, options):
        """Run the program with environment variables, and return its exit status."""
        return subprocess.run(self.program, env=os.environ | options, check=False).returncode

    def variables(self, seed, choices):
        """Return the options of a run as environment variables."""
        chosen = {"MODE": "adversarial", "SEED": str(seed)}
        if choices is not None:
            chosen["SCHEDULE"] = ranges_of(choices)
        if library.PREFIX + "CHECK" not in os.environ:
            chosen["CHECK"] = "memory,sync,race,init,hazard,barrier,neighbor"
        options = {library.PREFIX + name: value for name, value in chosen.items()}
        return {"HALFWARP_BACKEND": "emulator"} | options

    def command(self, seed, choices):
        """Return the command that repeats a run."""
        variables = self.variables(seed, choices).items()
        assignments = [f"{name}={shlex.quote(value)}" for name, value in variables]
        return " ".join([*assignments, shlex.join(self.program)])
