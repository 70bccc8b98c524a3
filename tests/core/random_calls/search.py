# SPDX-License-Identifier: Apache-2.0
"""Random sequences of operations; ``python -m tests.core.random_calls.search --cases 0:20000``.

Every exception must be one that users expect, memory must match a model, and the sequences must
leak nothing. A sequence that ends its process is shortened to the steps that this needs.
``--steps 3,7,9 --cases N:M --show`` repeats these steps of sequences and names them.
"""

import argparse
import gc
import json
import random
import sys
import time
from collections import Counter

from cuda.core import emulation

from tests.search import Marker, Search, add_options

from .operations import FOR_USERS, OPERATIONS, RARE, NoSuchObject, ObjectPool

STEPS = 50
PATIENCE = 30  # seconds for the last releases
TOGETHER = 100  # sequences between two checks for leaks
WEIGHTS = [1 if each in RARE else 20 for each in OPERATIONS]


def run_sequence(seed, number, steps, show=False):
    """Run steps of a sequence, which choose by the numbers alone; count the outcomes."""
    objects, outcomes = ObjectPool(), Counter()
    for step in steps:
        source = random.Random(f"{seed}:{number}:{step}")
        (operation,) = source.choices(OPERATIONS, WEIGHTS)
        if show:
            print(number, step, operation.__name__, file=sys.stderr, flush=True)
        try:
            operation(objects, source)
        except NoSuchObject:
            outcomes["without an object"] += 1
        except FOR_USERS:
            outcomes["refused"] += 1
        else:
            outcomes["done"] += 1
    objects.close()
    return outcomes


def run_sequences(seed, numbers, steps, mark=lambda number: None, show=False):
    """Run sequences and check after each hundred that nothing leaks; count the outcomes."""
    before, outcomes = len(remaining_leaks(sys.maxsize)), Counter()
    for at in range(numbers.start, numbers.stop, TOGETHER):
        for number in range(at, min(at + TOGETHER, numbers.stop)):
            mark(number)
            outcomes += run_sequence(seed, number, steps, show)
        leaks = remaining_leaks(before)
        assert len(leaks) <= before, f"a sequence of the {TOGETHER} from {at} leaks {leaks}"
    return outcomes


def remaining_leaks(expected):
    """Return the leaks after collections; threads of the driver release some objects later."""
    end = time.monotonic() + PATIENCE
    while True:
        for _ in range(3):  # the finalizers of reentrant objects create further objects
            gc.collect()
        if emulation.is_active():
            emulation.settle()
        leaks = emulation.leaks() if emulation.is_active() else []
        if len(leaks) <= expected or time.monotonic() > end:
            return leaks
        time.sleep(0.1)


def minimal(search, number, steps):
    """Return fewer steps of a sequence that still end its process."""
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size :]
            status, *_ = search.start(range(number, number + 1), "--steps", listed(fewer))
            steps, at = (steps, at + size) if status == "status 0" else (fewer, at)
        size //= 2
    return steps


def step_numbers(text):
    """Return the steps of ``50`` (so many) or of ``3,7,9`` (these)."""
    return [int(each) for each in text.split(",") if each] if "," in text else [*range(int(text))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--steps", type=step_numbers, default=[*range(STEPS)])
    parser.add_argument("--show", action="store_true", help="name each step before it runs")
    options = parser.parse_args()
    if options.progress or options.show:
        mark = Marker(options.progress).at
        outcomes = run_sequences(options.seed, options.cases, options.steps, mark, options.show)
        print(json.dumps({"operations": outcomes.total(), **outcomes}))
        return 0
    command = ["-X", "faulthandler", "-m", __spec__.name]
    search = Search([*command, "--steps", listed(options.steps)], options.seed, options.processes)
    search.run(options.cases)
    for problem in search.problems[:5]:
        problem["steps"] = listed(minimal(search, problem["case"], options.steps))
    return search.finish()


def listed(steps):
    return ",".join(map(str, steps)) + ","


if __name__ == "__main__":
    sys.exit(main())
