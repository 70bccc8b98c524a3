# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.mutation``: change one place of the sources at a time; do the tests notice?"""

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from . import workers
from .mutants import Mutant, sample
from .trial import put_to_trial, suite_of
from .workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutation"
FAILING = "names of tests that fail on this machine, one in each line; they are left out"
BUDGET = "seconds for the tests of one mutant; what they have not noticed by then survived (3600)"


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("paths", nargs="*", help="only sources whose path begins with this")
    parser.add_argument("--sample", type=int, default=20, metavar="N", help="so many mutants (20)")
    parser.add_argument("--seed", type=int, default=0, help="which of them (0)")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="go on after the first N")
    parser.add_argument("--share", default="1/1", metavar="K/N", help="of those the K-th N-th")
    parser.add_argument("--budget", type=int, default=3600, metavar="S", help=BUDGET)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the copy is built")
    parser.add_argument("--list", action="store_true", help="show the mutants and do nothing")
    parser.add_argument("--unchecked", action="store_true", help="no run of the tests without one")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="so many at a time (1)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the sample, do nothing")
    parser.add_argument("--read", type=Path, metavar="FILE", help="try the mutants that it has")
    parser.add_argument("--failing", type=Path, metavar="FILE", help=FAILING)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Try a sample; return 0 in any case, since the report is the result."""
    options = arguments()
    mutants = chosen(options)
    if options.write:
        options.write.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1))
        return 0
    if options.list:
        for mutant in mutants:
            print(f"{place(mutant)}\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}")
        return 0
    workspace = Workspace(ROOT, options.folder.resolve(), options.budget, options.failing)
    if options.worker:
        workspace.adopt()
        workers.work(workspace, mutants, options.folder.resolve() / "claims")
        return 0
    suites = {tuple(suite_of(mutant.path)["tests"]) for mutant in mutants}
    workspace.prepare([] if options.unchecked else [list(tests) for tests in sorted(suites)])
    outcomes = []
    if options.workers > 1:
        outcomes = run_workers(options, mutants)
    for mutant in mutants[len(outcomes) :]:
        outcomes.append(put_to_trial(workspace, mutant))
        show(outcomes[-1])
        write(options, outcomes)
    print(summary(outcomes))
    return 0


def chosen(options) -> list[Mutant]:
    """Return the mutants of a file or of a sample, without those to skip."""
    if options.read:
        mutants = [Mutant(**each) for each in json.loads(options.read.read_text())]
    else:
        mutants = sample(ROOT, options.seed, options.sample, tuple(options.paths))
    share, shares = map(int, options.share.split("/"))
    return mutants[options.skip :][share - 1 :: shares]


def run_workers(options, mutants):
    seen = set()

    def report(outcomes):
        for outcome in outcomes:
            if outcome.mutant not in seen:
                seen.add(outcome.mutant)
                show(outcome)
        write(options, outcomes)

    return workers.run(options.workers, options.folder.resolve(), ROOT, mutants, report)


def show(outcome) -> None:
    print(f"{outcome.verdict:12} {outcome.seconds:5.0f} s  {place(outcome.mutant)}  {outcome.why}")
    if outcome.verdict == "survived":
        print(f"  - {outcome.mutant.before.strip()}\n  + {outcome.mutant.after.strip()}")
    sys.stdout.flush()


def place(mutant) -> str:
    return f"{mutant.path}:{mutant.line} ({mutant.operator})"


def write(options, outcomes) -> None:
    """Write after each mutant, so that an interrupted run has its report."""
    report = {
        "seed": options.seed,
        "sample": options.sample,
        "paths": options.paths,
        "summary": summary(outcomes),
        "mutants": [outcome.record() for outcome in outcomes],
    }
    (options.folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")


def summary(outcomes) -> str:
    """Count how many of the mutants that may change behavior were noticed."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    judged = counts["killed"] + counts["survived"]
    share = f" ({counts['killed'] / judged:.0%} of {judged})" if judged else ""
    seconds = sum(outcome.seconds for outcome in outcomes) / max(len(outcomes), 1)
    return (
        f"{counts['killed']} killed{share}, {counts['survived']} survived, "
        f"{counts['equivalent']} equivalent, {counts['uncompilable']} uncompilable; "
        f"{seconds:.0f} s each"
    )


if __name__ == "__main__":
    sys.exit(main())
