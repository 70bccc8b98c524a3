# SPDX-License-Identifier: Apache-2.0
"""python -m benchmarks.pool_comparison [--backend null|gpu] [--wheels DIR] [--threads N ...]
    [--no-reference] [--json FILE]

Times allocation and deallocation of 1 KB in the pools of halfwarp and of other installed packages.
Each pool runs in its own process and in several rounds, then with more threads, each on its own
stream. Reports packages that are not installed as skipped.
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
    """Return the worker's result as a dict."""
    python, variables = place
    worker = str(environments.FOLDER / "worker" / "pools.py")
    command = [python, worker, name, str(threads)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"error": f"the process ended with {done.returncode}: {done.stderr[-300:]}"}
    return json.loads(lines[-1])


def best(place, name, threads, rounds):
    """Return the minimum of several processes, or the first result if it has no time."""
    result = run(place, name, threads)
    for _ in range(rounds - 1 if "ns" in result else 0):
        repeated = run(place, name, threads)
        result["ns"] = min(result["ns"], repeated.get("ns", result["ns"]))
    return result


def places(backend, wheels, with_reference):
    """Map each allocator to (interpreter, environment variables), or to a reason for skipping."""
    ours = (sys.executable, environments.environment("ours", backend))
    places = dict.fromkeys(ALLOCATORS, ours)
    places[REFERENCE] = "--no-reference"
    if with_reference:
        try:
            places[REFERENCE] = environments.places(backend, wheels)["theirs"]
        except (OSError, subprocess.CalledProcessError) as error:
            places[REFERENCE] = f"its packages cannot be installed: {error}"
    return places


def compare(places_by_name, threads, rounds):
    """Map each allocator to {number of threads: result}, and print each row once it is known."""
    width = max(map(len, places_by_name))
    print(f"{'ns for one allocation and free':{width}}", *(f"{n:>9}" for n in threads))
    table = {}
    for name, place in places_by_name.items():
        table[name] = {}
        for number in threads:
            result = {"absent": place} if isinstance(place, str) else None
            result = result or best(place, name, number, rounds)
            table[name][number] = result
            if "ns" not in result:
                break
        print(f"{name:{width}}", *cells(table[name]), flush=True)
    return table


def cells(results):
    """Yield the times, and the reason for missing ones."""
    for each in results.values():
        if "ns" in each:
            yield f"{each['ns']:9.0f}"
        else:
            yield each.get("error") or f"skipped: {each['absent']}"


def arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pool_comparison")
    parser.add_argument("--backend", choices=["null", "gpu"], default="null")
    parser.add_argument("--wheels", help="folder with the reference's wheels")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-reference", action="store_true")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(argv)


def main(argv=None):
    parsed = arguments(argv)
    places_by_name = places(parsed.backend, parsed.wheels, not parsed.no_reference)
    table = compare(places_by_name, parsed.threads, parsed.rounds)
    if parsed.json:
        parsed.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
