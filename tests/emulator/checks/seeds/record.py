# SPDX-License-Identifier: Apache-2.0
"""Record the launches of programs to a folder, for `seeds.replay`.

    python -m tests.emulator.checks.seeds.record FOLDER [-j JOBS] [--only GROUP,...]
                                                 [--seconds LIMIT] [--match TEXT]
                                                 [-- SCRIPT ARGUMENT...]

It runs the programs of `seeds`, or one script. The output has the numbers of new and repeated
launches, and the reasons why others are not stored.
"""

import argparse
import collections
import json
import sys
import tempfile
from pathlib import Path

from tests.emulator.checks.seeds import __main__ as seeds
from tests.emulator.checks.seeds import preload


class Recording(seeds.Task):
    """A program with a recorder, in a process of its own."""

    def __init__(self, group, name, program, folder, store):
        super().__init__(group, name, 0, program, folder)
        self.store = store
        self.counts = self.report.with_suffix(".counts")

    def variables(self):
        """Return the options: `init` records which bytes were written, and costs the least."""
        return {
            "HALFWARP_EMULATOR_CHECK": "memory,sync,init",
            "HALFWARP_EMULATOR_MODE": "async",
            "HALFWARP_EMULATOR_REPORT": str(self.report),
        }

    def run_script(self):
        from tests.emulator.checks.seeds.launches import Store
        from tests.emulator.checks.seeds.raw_driver import Driver
        from tests.emulator.checks.seeds.recorder import Recorder

        recorder = Recorder(Store(self.store), Driver())
        recorder.install()
        try:
            super().run_script()
        finally:
            self.counts.write_text(json.dumps(recorder.counts), encoding="utf-8")


class Counts:
    """The counted launches of all programs."""

    def __init__(self):
        self.of = collections.defaultdict(collections.Counter)

    def add(self, task, status):
        of_group = self.of[task.group]
        if task.counts.exists():
            of_group.update(json.loads(task.counts.read_text(encoding="utf-8")))
        else:
            of_group[f"no end of {task.name}: status {status}"] += 1
            print(task.output.read_text(errors="replace")[-1500:], file=sys.stderr)
        print(f"{task.name}: status {status}", file=sys.stderr)
        for path in (task.report, task.output, task.result, task.counts):
            path.unlink(missing_ok=True)

    def print(self):
        for group, counts in self.of.items():
            print(f"{group}: {counts.total()} launches")
            for reason, count in counts.most_common():
                print(f"  {reason}: {count}")


def programs_of(chosen):
    """Return the programs by group and name."""
    if chosen.script:
        path = str(Path(chosen.script[0]).resolve())
        return {("script", Path(path).name): [path, *chosen.script[1:]]}
    programs = seeds.prepared(chosen.only.split(","))
    return {place: each for place, each in programs.items() if chosen.match in place[1]}


def main():
    parser = argparse.ArgumentParser(prog="record", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--only", default="numba,tests", help="groups, with commas between")
    parser.add_argument("--match", default="", help="a text in the name of the programs")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run later")
    parser.add_argument("script", nargs="*", help="a script with arguments")
    chosen = parser.parse_args()
    seeds.set_paths()
    preload.load()
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            Recording(group, name, program, folder, chosen.folder.resolve())
            for (group, name), program in programs_of(chosen).items()
        ]
        seeds.run_all(tasks, chosen.jobs, chosen.seconds, counts)
    counts.print()


if __name__ == "__main__":
    main()
