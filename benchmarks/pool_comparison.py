# SPDX-License-Identifier: Apache-2.0
"""python -m benchmarks.pool_comparison [--backend null|gpu] [--wheels DIR] [--threads N ...]
    [--no-reference] [--json FILE]

Times allocate and free of 1 KB in our pool and in those of others that are installed, each in a
process of its own and in several rounds, then with more threads, each on a stream of its own. What
is not installed is skipped by name.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks import environments

sys.path.insert(0, str(environments.FOLDER / "worker"))
from pools import ALLOCATORS

REFERENCE = "the reference's DeviceMemoryResource"


def run(place, name, threads):
    """What the worker found, as a dict."""
    python, variables = place
    worker = str(environments.FOLDER / "worker" / "pools.py")
    command = [python, worker, name, str(threads)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"error": f"the process ended with {done.returncode}: {done.stderr[-300:]}"}
    return json.loads(lines[-1])


def best(place, name, threads, rounds):
    """The least of several processes; the first answer where there is no time."""
    found = run(place, name, threads)
    for _ in range(rounds - 1 if "ns" in found else 0):
        again = run(place, name, threads)
        found["ns"] = min(found["ns"], again.get("ns", found["ns"]))
    return found


def places(backend, wheels, with_reference):
    """Allocator -> (interpreter, environment variables), or why there is none."""
    ours = (sys.executable, environments.environment("ours", backend))
    found = dict.fromkeys(ALLOCATORS, ours)
    found[REFERENCE] = "--no-reference"
    if with_reference:
        try:
            found[REFERENCE] = environments.places(backend, wheels)["theirs"]
        except (OSError, subprocess.CalledProcessError) as error:
            found[REFERENCE] = f"its packages cannot be installed: {error}"
    return found


def compare(where, threads, rounds):
    """Allocator -> {number of threads: what was found}, each shown as soon as it is known."""
    width = max(map(len, where))
    print(f"{'ns for one allocation and free':{width}}", *(f"{n:>9}" for n in threads))
    table = {}
    for name, place in where.items():
        table[name] = {}
        for number in threads:
            found = {"absent": place} if isinstance(place, str) else None
            found = found or best(place, name, number, rounds)
            table[name][number] = found
            if "ns" not in found:
                break
        print(f"{name:{width}}", *cells(table[name]), flush=True)
    return table


def cells(found):
    """The times, and why there are no more."""
    for each in found.values():
        if "ns" in each:
            yield f"{each['ns']:9.0f}"
        else:
            yield each.get("error") or f"skipped: {each['absent']}"


def arguments(given):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pool_comparison")
    parser.add_argument("--backend", choices=["null", "gpu"], default="null")
    parser.add_argument("--wheels", help="folder with the reference's wheels")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-reference", action="store_true")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(given)


def main(given=None):
    asked = arguments(given)
    where = places(asked.backend, asked.wheels, not asked.no_reference)
    table = compare(where, asked.threads, asked.rounds)
    if asked.json:
        asked.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
