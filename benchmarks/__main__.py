# SPDX-License-Identifier: Apache-2.0
"""python -m benchmarks [ROW...] [--backend null|gpu] [--wheels DIR] [--json FILE] [--check]
    [--build] [--no-footprint] [--rounds N] [--beside] [--growth] [--svg DIR]

Times each row in both packages, alternating in the same run, and prints theirs, ours, the ratio,
the target and the C floor. `--check` fails if a ratio is above `budget.toml`; `--beside` adds the
cost of the same call in CuPy and Numba, if they have it.
"""

import argparse
import datetime
import json
import platform
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

from benchmarks import environments, footprint, growth, pictures
from benchmarks.environments import FOLDER

ROUNDS = 8


def rows():
    """Return the registered rows, in the order of the files that declare them."""
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
    """Map each row to nanoseconds or an error text, from one process."""
    command = [python, str(FOLDER / "worker" / "measure.py"), *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise SystemExit(f"the measurement stopped: {' '.join(command[:2])}")
    return {r["row"]: r.get("ns", r.get("error")) for r in records}


def run_beside(place, package):
    """Map each row to nanoseconds or an error text; empty if the package cannot start."""
    python, env = place
    command = [python, str(FOLDER / "worker" / "beside.py"), package]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for each in records:
        if "absent" in each:
            print(f"{package} is left out: {each['absent']}", file=sys.stderr)
    return {r["row"]: r.get("ns", r.get("error")) for r in records if "row" in r}


def measure_beside(places, count):
    """Map each package to its rows, with the lower quartile of the rounds."""
    rounds = [{who: run_beside(place, who) for who, place in places.items()} for _ in range(count)]
    return {who: lower_quartiles([r[who] for r in rounds]) for who in places} if rounds else {}


def lower_quartiles(rounds):
    """Map each row to the lower quartile of its times, or to an error text if all rounds failed.

    Disturbed rounds are above it. Rounds in which the machine's speed changed between a call and
    the empty call that is subtracted may be below it.
    """
    result = {}
    for name, first in rounds[0].items():
        numbers = sorted(r[name] for r in rounds if isinstance(r.get(name), float))
        result[name] = round(numbers[len(numbers) // 4], 1) if numbers else first
    return result


def measure(names, table, backend, places, count=ROUNDS):
    """Measure ours and theirs in alternating rounds, then the C twins.

    A shared machine is slower for seconds at a time, so each implementation gets several rounds.
    """
    shared = [n for n in names if not table[n].ours_only]
    row_names = {"ours": names, "theirs": shared}
    rounds = [
        {who: run_worker(*places[who], row_names[who]) for who in places} for _ in range(count)
    ]
    result = {who: lower_quartiles([r[who] for r in rounds]) for who in places}
    return result | {"floor": run_floor(backend)}


def run_floor(backend):
    """Map each twin to nanoseconds; empty if the twins cannot be compiled."""
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
    """Return theirs divided by ours, or None if either has no number."""
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
        } | {who: times.get(name) for who, times in measured.get("beside", {}).items()}


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
    yield {
        "row": footprint.COLD_ROW,
        "unit": "ms",
        **{who: footprint.cold_start(*places[who]) for who in ("theirs", "ours")},
        "target": footprint.COLD_TARGET,
        "floor": None,
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
    beside = [who for who in environments.BESIDE if who in records[0]]
    heads = "".join(f"{who:>10}" for who in beside)
    print(f"{'row':34}{'theirs':>10}{'ours':>10}{'ratio':>8}{'target':>9}{'C floor':>9}{heads}")
    for r in records:
        cells, times, floor = (
            [number(r[k]) for k in ("theirs", "ours")],
            ratio(r),
            number(r["floor"]),
        )
        additional = "".join(f"{number(r.get(who)):>10}" for who in beside)
        missed = isinstance(r["ours"], float) and r["ours"] > r["target"]
        print(
            f"{r['row'] + ' [' + r['unit'] + ']':34}{cells[0]:>10}{cells[1]:>10}"
            f"{f'{times:.1f}x' if times else '-':>8}{r['target']:>9.0f}{floor:>9}{additional}"
            f"{'  above target' if missed else ''}"
        )
        for who in ("theirs", "ours", *beside):
            if isinstance(r.get(who), str):
                print(f"    {who}: {r[who]}")


def number(value):
    return f"{value:.1f}" if isinstance(value, float) else "-"


def gpu_name():
    """Return name and driver of the first GPU, as reported by nvidia-smi."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True)
    except OSError:
        return None
    return ", driver ".join(done.stdout.splitlines()[0].split(", ")) if done.stdout else None


def describe_run(backend):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=FOLDER, capture_output=True, text=True
    )
    gpu = gpu_name() if backend == "gpu" else None
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "date": datetime.date.today().isoformat(),
        "backend": backend,
        "python": platform.python_version(),
        "machine": cpu[1] if cpu else platform.machine(),
        "gpu": gpu,
        "system": platform.platform(),
        "reference": environments.REFERENCE,
        "commit": commit.stdout.strip(),
    }


def over_budget(records):
    """Map each row whose part of NVIDIA's time exceeds `budget.toml` to a description."""
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
    """Return the exit status. Rows above the budget are measured again, in processes that run
    only these rows: earlier allocations of a process can cost a call 20 ns, other load more.
    """
    over = over_budget(records)
    if over:
        print("above the budget, so measured again alone:")
        repeated = measure_again(list(over))
        show(repeated)
        over = over_budget(repeated)
    print("\n".join(f"{row}: {problem}" for row, problem in over.items()) or "within the budget")
    return 1 if over else 0


def command_line():
    """Return the command line without output paths."""
    words, arguments = iter(sys.argv[1:]), []
    for word in words:
        if word in ("--json", "--svg", "--wheels"):
            next(words, None)
        else:
            arguments.append(word)
    return shlex.join(["python", "-m", "benchmarks", *arguments])


def beside(options, theirs):
    """Return the measurements that `--beside` adds."""
    if not options.beside:
        return {}
    places = environments.places_beside(options.backend, theirs, options.wheels)
    return measure_beside(places, min(3, options.rounds))


def main():
    table = rows()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n\n")[1]
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="part of a row's name; default: all")
    parser.add_argument("--backend", choices=["null", "gpu"], default="null")
    parser.add_argument(
        "--wheels", help="folder with the reference's wheels, for machines without a network"
    )
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--check", action="store_true", help="fail above budget.toml")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"processes per package (default: {ROUNDS})"
    )
    parser.add_argument(
        "--no-footprint", action="store_true", help="leave out import times and sizes"
    )
    parser.add_argument("--build", action="store_true", help="time a clean build as well")
    parser.add_argument(
        "--growth",
        action="store_true",
        help="measure growth with arguments, threads, buffers, modules, nodes instead of rows",
    )
    parser.add_argument(
        "--beside", action="store_true", help="also measure the same calls in CuPy and Numba"
    )
    parser.add_argument("--svg", metavar="DIR", help="draw the rows, or with --growth each sweep")
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

    def measured(names, beside=None):
        times = measure(names, table, options.backend, places, options.rounds)
        return list(records_of(names, table, times | {"beside": beside or {}}))

    records = measured(names, beside(options, places["theirs"]))
    if not options.no_footprint and not options.rows:
        records += footprint_records(places)
    if options.build:
        records.append(build_record())
    show(records)
    if options.json:
        with open(options.json, "w") as file:
            run = describe_run(options.backend)
            json.dump({"run": run, "command": command_line(), "rows": records}, file, indent=1)
            file.write("\n")
    if options.svg:
        Path(options.svg).mkdir(parents=True, exist_ok=True)
        Path(options.svg, "rows.svg").write_text(pictures.bars(records))
    return check_budget(records, measured) if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
