# SPDX-License-Identifier: Apache-2.0
"""python -m benchmarks [ROW...] [--backend null|gpu] [--wheels DIR] [--json FILE] [--check]
    [--build] [--no-footprint] [--rounds N] [--growth] [--svg DIR]

Times each row in both packages, one after the other in the same run, and prints theirs, ours, the
ratio, the target and the C floor. `--check` fails when a ratio is above `budget.toml`.
"""

import argparse
import datetime
import json
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from benchmarks import environments, footprint, growth
from benchmarks.environments import FOLDER

ROUNDS = 8


def rows():
    """The registered rows, in the order of the files that declare them."""
    sys.path.insert(0, str(FOLDER / "worker"))
    import rows.buffers
    import rows.compiling
    import rows.graphs
    import rows.launch
    import rows.libraries
    import rows.low_level
    import rows.machine
    import rows.objects
    import rows.plain_values  # noqa: F401  (importing registers the rows)
    from rows import ROWS

    return ROWS


def run_worker(python, env, names):
    """Row name -> nanoseconds or an error text, from one process."""
    command = [python, str(FOLDER / "worker" / "measure.py"), *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise SystemExit(f"the measurement stopped: {' '.join(command[:2])}")
    return {r["row"]: r.get("ns", r.get("error")) for r in records}


def settle(rounds):
    """Row -> the lower quartile of its times in all rounds; an error text where each round failed.

    Rounds that something else disturbed are above it, and those in which the machine changed its
    speed between a call and the empty call that is taken off may be below.
    """
    settled = {}
    for name, first in rounds[0].items():
        numbers = sorted(r[name] for r in rounds if isinstance(r.get(name), float))
        settled[name] = round(numbers[len(numbers) // 4], 1) if numbers else first
    return settled


def measure(names, table, backend, places, count=ROUNDS):
    """Interleaved rounds of ours and theirs, then the C twins.

    A shared machine runs slower for seconds at a time, so each implementation gets several turns.
    """
    shared = [n for n in names if not table[n].ours_only]
    wanted = {"ours": names, "theirs": shared}
    rounds = [{who: run_worker(*places[who], wanted[who]) for who in places} for _ in range(count)]
    result = {who: settle([r[who] for r in rounds]) for who in places}
    return result | {"floor": run_floor(backend)}


def run_floor(backend):
    """Twin -> nanoseconds; empty where the twins cannot be compiled."""
    program = environments.build_floor(backend)
    if not program:
        return {}
    env = environments.environment("floor", backend)
    done = subprocess.run([program], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the C twins cannot run: {done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line["row"]: line["ns"] for line in lines}


def ratio(record):
    """Theirs over ours, or None where one of them has no number."""
    ours, theirs = record["ours"], record["theirs"]
    numbers = isinstance(ours, float) and isinstance(theirs, float)
    return theirs / max(ours, 0.1) if numbers else None


def records_of(names, table, measured):
    for name in names:
        row = table[name]
        yield {
            "row": name,
            "unit": "ns",
            "theirs": measured["theirs"].get(name),
            "ours": measured["ours"].get(name),
            "target": float(row.target),
            "floor": measured["floor"].get(row.twin),
        }


def footprint_records(places):
    times = {who: footprint.import_times(*place) for who, place in places.items()}
    for row, (_, target) in footprint.import_rows().items():
        yield {
            "row": row,
            "unit": "ms",
            "theirs": times["theirs"][row],
            "ours": times["ours"][row],
            "target": target,
            "floor": times["ours"][footprint.EMPTY],
        }
    sizes = {who: footprint.installed_bytes(*place) / 1e6 for who, place in places.items()}
    yield {
        "row": "installed size",
        "unit": "MB",
        "theirs": round(sizes["theirs"], 1),
        "ours": round(sizes["ours"], 1),
        "target": 10.0,
        "floor": None,
    }


def build_record():
    return {
        "row": "clean build",
        "unit": "s",
        "theirs": None,
        "ours": round(footprint.clean_build_seconds(), 1),
        "target": 300.0,
        "floor": None,
    }


def show(records):
    print(f"{'row':34}{'theirs':>10}{'ours':>10}{'ratio':>8}{'target':>9}{'C floor':>9}")
    for r in records:
        cells = [f"{r[k]:.1f}" if isinstance(r[k], float) else "-" for k in ("theirs", "ours")]
        times = ratio(r)
        floor = f"{r['floor']:.1f}" if isinstance(r["floor"], float) else "-"
        missed = isinstance(r["ours"], float) and r["ours"] > r["target"]
        print(
            f"{r['row'] + ' [' + r['unit'] + ']':34}{cells[0]:>10}{cells[1]:>10}"
            f"{f'{times:.1f}x' if times else '-':>8}{r['target']:>9.0f}{floor:>9}"
            f"{'  above target' if missed else ''}"
        )
        for who in ("theirs", "ours"):
            if isinstance(r[who], str):
                print(f"    {who}: {r[who]}")


def describe_run(backend):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=FOLDER, capture_output=True, text=True
    )
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "date": datetime.date.today().isoformat(),
        "backend": backend,
        "python": platform.python_version(),
        "machine": cpu[1] if cpu else platform.machine(),
        "system": platform.platform(),
        "reference": environments.REFERENCE,
        "commit": commit.stdout.strip(),
    }


def over_budget(records):
    """Row -> what is wrong with it, where its part of NVIDIA's time is above `budget.toml`'s."""
    budget = tomllib.loads((FOLDER / "budget.toml").read_text())["ratios"]
    over = {}
    for r in records:
        allowed = budget.get(r["row"])
        if allowed is None:
            continue
        times = ratio(r)
        if times is None:
            over[r["row"]] = f"no figure (ours {r['ours']}, theirs {r['theirs']})"
        elif 1 / times > allowed:
            over[r["row"]] = f"{1 / times:.2f} of the reference's time, the budget is {allowed}"
    return over


def check_budget(records, measure_again):
    """The exit status. Rows above the budget get a second measurement, in processes that run
    them alone: what else a process has allocated can cost a call 20 ns, and a shared machine more.
    """
    over = over_budget(records)
    if over:
        print("above the budget, so once more by themselves:")
        again = measure_again(list(over))
        show(again)
        over = over_budget(again)
    print("\n".join(f"{row}: {what}" for row, what in over.items()) or "within the budget")
    return 1 if over else 0


def main():
    table = rows()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n\n")[1]
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="part of a row's name; default: all")
    parser.add_argument("--backend", choices=["null", "gpu"], default="null")
    parser.add_argument(
        "--wheels", help="folder with the reference's wheels, where there is no network"
    )
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--check", action="store_true", help="fail above budget.toml")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"of processes of each package, now {ROUNDS}"
    )
    parser.add_argument(
        "--no-footprint", action="store_true", help="leave out import times and sizes"
    )
    parser.add_argument("--build", action="store_true", help="time a clean build as well")
    parser.add_argument(
        "--growth",
        action="store_true",
        help="instead of rows: how cost grows with arguments, threads, buffers, modules, nodes",
    )
    parser.add_argument("--svg", metavar="DIR", help="with --growth: draw each sweep there")
    options = parser.parse_args()
    places = environments.places(options.backend, options.wheels)
    if options.growth:
        return growth.run(options.rows, places, describe_run(options.backend), options)
    names = [
        name
        for name, row in table.items()
        if options.backend in row.backends
        and (not options.rows or any(part in name for part in options.rows))
    ]

    def measured(names):
        found = measure(names, table, options.backend, places, options.rounds)
        return list(records_of(names, table, found))

    records = measured(names)
    if not options.no_footprint and not options.rows:
        records += footprint_records(places)
    if options.build:
        records.append(build_record())
    show(records)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"run": describe_run(options.backend), "rows": records}, file, indent=1)
    return check_budget(records, measured) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
