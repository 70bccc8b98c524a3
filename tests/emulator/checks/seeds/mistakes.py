# SPDX-License-Identifier: Apache-2.0
"""Run the planted mistakes with many seeds, and tell in how many each is found.

    python -m tests.emulator.checks.seeds.mistakes SEEDS [--runs RUNS] [-j JOBS] [--only MODULE,...]

Each seed runs in a process of its own, with all checks and in adversarial mode. The first seed runs
RUNS times; its reports must be equal byte for byte. The exit status is 1 if they are not, or if no
seed finds a mistake.
"""

import argparse
import collections
import contextlib
import functools
import json
import multiprocessing
import sys
import tempfile

from tests.emulator.checks.cases import all_cases, codes_of, findings_of, has_library_headers
from tests.emulator.checks.seeds import __main__ as seeds
from tests.emulator.checks.seeds import programs

HAZARDS = "hazards"


def compiled(module):
    """Return the PTX texts of a module's mistakes."""
    if module == HAZARDS:
        return programs.compile_hazards()
    planted = programs.planted(module)
    return codes_of(planted, all_cases(planted))


def run_kernels(module, codes, *names):
    """Return the reports of planted kernels by name."""
    device, stream = programs.open_device()
    cases = all_cases(programs.planted(module))
    correct = getattr(programs.planted(module), "CORRECT", {})
    return {
        name: findings_of(device, stream, case, codes[name, "mistake"])
        for name, case in cases.items()
        if name in (names or cases.keys() - correct.keys())
    }


def run_streams(code, *names):
    """Return the reports of planted programs of several streams by name."""
    from cuda.core import CUDAError, emulation

    from tests.emulator.checks.planted import hazards
    from tests.emulator.checks.planted import programs as more

    device, _ = programs.open_device()
    kernels = programs.hazard_kernels(code)
    reports = {}
    for name, case in (hazards.CASES | more.CASES).items():
        if names and name not in names:
            continue
        with contextlib.suppress(CUDAError):  # the reports tell
            program = hazards.Program(device, kernels)
            case(program, False)
            program.close()
        reports[name] = [each.text for each in emulation.faults()]
        emulation.repair()
    return reports


class Results:
    """The reports by run, module and name."""

    def __init__(self):
        self.texts = collections.defaultdict(list)

    def add(self, task, status):
        if status:
            raise SystemExit(f"{task.name}, seed {task.seed}: {task.output.read_text()[-2000:]}")
        for name, reports in json.loads(task.result.read_text(encoding="utf-8")).items():
            self.texts[task.name, name].append((task.seed, json.dumps(reports)))
        for path in (task.report, task.output, task.result):
            path.unlink(missing_ok=True)

    def print(self, first):
        """Return whether each mistake is found, with equal reports in runs of the first seed."""
        missed, unequal = [], []
        for place, runs in sorted(self.texts.items()):
            seeds_with_reports = {seed for seed, text in runs if text != "[]"}
            all_seeds = {seed for seed, _ in runs}
            if len(seeds_with_reports) < len(all_seeds):
                print(f"{': '.join(place)}: {len(seeds_with_reports)} of {len(all_seeds)} seeds")
            missed += [place] * (not seeds_with_reports)
            unequal += [place] * (len({text for seed, text in runs if seed == first}) > 1)
        print(f"{len(self.texts)} mistakes, {len(missed)} found by no seed: {missed}")
        print(f"{len(unequal)} with unequal reports of seed {first}: {unequal}")
        return not missed and not unequal


def main():
    modules = [*programs.MODULES, HAZARDS]
    if not has_library_headers():
        modules.remove("libraries")
    parser = argparse.ArgumentParser(prog="mistakes", description=__doc__.splitlines()[0])
    parser.add_argument("seeds", type=int)
    parser.add_argument("--runs", type=int, default=1, help="runs of the first seed")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--only", default=",".join(modules), help="modules, with commas between")
    chosen = parser.parse_args()
    seeds.set_paths()
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        for module in chosen.only.split(","):
            with multiprocessing.get_context("fork").Pool(1) as pool:
                code = pool.apply(compiled, (module,))
            run = run_streams if module == HAZARDS else run_kernels
            arguments = (code,) if module == HAZARDS else (module, code)
            order = [0] * chosen.runs + list(range(1, chosen.seeds))
            tasks = (
                seeds.Task(
                    f"mistakes{number}", module, seed, functools.partial(run, *arguments), folder
                )
                for number, seed in enumerate(order)
            )
            seeds.run_all(tasks, chosen.jobs, float("inf"), results)
    return int(not results.print(0))


if __name__ == "__main__":
    sys.exit(main())
