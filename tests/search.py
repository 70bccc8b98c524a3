# SPDX-License-Identifier: Apache-2.0
"""Long random searches: numbered cases in child processes, whose crashes and hangs are named.

A case depends on the seed and its number alone. The command of a search runs its cases in children
of itself, which get ``--progress``. A child prints a JSON object with counts at its end.
"""

import argparse
import json
import mmap
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from halfwarp.progress import progress

PATIENCE = 60  # seconds for one case
BATCH = 5000  # cases of a child at most


def add_options(parser):
    """Add the options that all searches and their children have."""
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=numbers, default=range(1000), metavar="FIRST:END")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="children at a time")
    parser.add_argument("--progress", type=Path, help=argparse.SUPPRESS)


def numbers(text):
    """Return the range of ``FIRST:END``."""
    first, _, end = text.partition(":")
    return range(int(first), int(end))


class Marker:
    """The number of the running case, in a file that the parent reads."""

    def __init__(self, path):
        self.map = None
        if path:
            with path.open("r+b") as file:
                self.map = mmap.mmap(file.fileno(), 8)

    def at(self, number):
        if self.map:
            self.map[:] = struct.pack("<q", number)


class Search:
    """Runs cases of a seed; `problems` lists the crashes and hangs, `counts` the outcomes."""

    def __init__(self, command, seed, processes=1):
        self.command, self.seed, self.processes = [sys.executable, *command], seed, processes
        self.problems, self.counts, self.peak = [], Counter(), 0
        self.cases, self.seconds = 0, 0.0
        self.lock = threading.Lock()

    def run(self, cases):
        """Run a range of cases, a share of it in each child."""
        start = time.monotonic()
        size = max(1, min(BATCH, -(-len(cases) // self.processes)))
        shares = [cases[at : at + size] for at in range(0, len(cases), size)]
        with progress("cases", len(cases)) as shown, ThreadPoolExecutor(self.processes) as pool:
            for share in pool.map(self.share, shares):
                shown.step(len(share))
        self.cases += len(cases)
        self.seconds += time.monotonic() - start
        return self

    def share(self, cases):
        """Run some cases, also those after one that ends its child."""
        first = cases.start
        while first < cases.stop:
            first = self.child(range(first, cases.stop))
        return cases

    def child(self, cases):
        """Run some cases in a child; return the number of the next one to run."""
        status, out, errors, at = self.start(cases)
        with self.lock:
            if status == "status 0":
                counts = json.loads(out.splitlines()[-1])
                self.peak = max(self.peak, counts.pop("peak_kib", 0))
                self.counts.update(counts)
                return cases.stop
            problem = {"seed": self.seed, "case": at, "how": status, "stderr": errors[-3000:]}
            self.problems.append(problem)
        return at + 1

    def start(self, cases, *options):
        """Run a child; return its status, output, errors and the number of its last case."""
        with tempfile.NamedTemporaryFile() as place:
            place.write(struct.pack("<q", cases.start))
            place.flush()
            command = [*self.command, "--seed", str(self.seed), "--progress", place.name]
            command += ["--cases", f"{cases.start}:{cases.stop}", *options]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            *texts, has_hung = wait(process, place.name)
            status = "hang" if has_hung else f"status {process.returncode}"
            # kernels print anything
            return status, *(text.decode(errors="replace") for text in texts), number_in(place.name)

    def report(self):
        """Return the result as one level of values, for JSON."""
        return {
            "seed": self.seed,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            **({"peak_kib": self.peak} if self.peak else {}),
            **dict(sorted(self.counts.items())),
            "problems": self.problems,
        }

    def finish(self):
        """Print the report; return the exit status."""
        print(json.dumps(self.report(), indent=1))
        return 1 if self.problems else 0


def wait(process, place):
    """Return the output of a process, and whether it was killed for the duration of a case."""
    last, since = -1, time.monotonic()
    while True:
        try:
            return *process.communicate(timeout=1), False
        except subprocess.TimeoutExpired:
            now = number_in(place)
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                process.kill()
                return *process.communicate(), True


def number_in(path):
    return struct.unpack("<q", Path(path).read_bytes()[:8])[0]
