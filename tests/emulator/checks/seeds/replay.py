# SPDX-License-Identifier: Apache-2.0
"""Repeat recorded launches with all checks and many seeds, and list each report.

    python -m tests.emulator.checks.seeds.replay FOLDER SEEDS [-j JOBS] [--first SEED]
                                                 [--seconds LIMIT] [--launch NAME]
                                                 [--without NAME,...] [--most COUNT]

FOLDER has the launches of `seeds.record`. Each seed runs in a process of its own, which repeats
every launch with the memory that it had. Device memory that nobody had written is unwritten again.
Managed memory and memory of the host count as written.

The exit status is 1 if a launch has a report, or ends with another status than with the first seed.
"""

import argparse
import collections
import functools
import os
import sys
import tempfile
from pathlib import Path

from tests.emulator.checks.seeds import __main__ as seeds
from tests.emulator.checks.seeds import preload
from tests.emulator.checks.seeds.launches import Player, Store


def chosen_of(launches, start, without, most):
    """Return launches by name in the order of modules, at most some with equal extents."""
    counts, chosen = collections.Counter(), {}
    for name, each in sorted(launches.items(), key=lambda item: item[1].image):
        key = (each.image, each.kernel, each.extents)
        if name.startswith(start) and name not in without and counts[key] < most:
            counts[key] += 1
            chosen[name] = each
    return chosen


class Replay(seeds.Task):
    """All launches with a seed, in a process of its own."""

    def variables(self):
        return super().variables() | {"HALFWARP_EMULATOR_STEP_LIMIT": "20000000"}


def play(launches):
    """Repeat launches, and return what is not usual: statuses and new reports, by name."""
    from cuda.core import emulation

    from tests.emulator.checks.seeds.raw_driver import Driver

    player, report = Player(Driver()), Path(os.environ["HALFWARP_EMULATOR_REPORT"])
    unusual, size = {}, 0
    for name, launch in launches.items():
        status = player.play(launch)
        if status:
            emulation.repair()
            unusual[name] = f"{launch.kernel.decode()}: status {status}"
        now = report.stat().st_size if report.exists() else 0
        if now > size and not status:
            unusual[name] = f"{launch.kernel.decode()}: reports"
        size = now
    return unusual


def main():
    parser = argparse.ArgumentParser(prog="replay", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("seeds", type=int)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--launch", default="", help="repeat only names with this start")
    parser.add_argument("--without", default="", help="names, with commas between")
    parser.add_argument("--most", type=float, default=float("inf"), help="of one kernel and grid")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run later")
    chosen = parser.parse_args()
    seeds.set_paths()
    launches = Store(chosen.folder).launches()
    launches = chosen_of(launches, chosen.launch, chosen.without.split(","), chosen.most)
    preload.load()
    summary = seeds.Summary()
    with tempfile.TemporaryDirectory() as folder:
        tasks = (
            Replay("launches", "launches", seed, functools.partial(play, launches), folder)
            for seed in range(chosen.first, chosen.first + chosen.seeds)
        )
        seeds.run_all(tasks, chosen.jobs, chosen.seconds, summary)
    summary.print()
    for seed, result in summary.results.values():
        print(f"{len(launches)} launches; unusual with seed {seed}: {result}")
    return int(bool(summary.reports or summary.failures))


if __name__ == "__main__":
    sys.exit(main())
