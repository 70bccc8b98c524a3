# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.mutation``: change the sources in one place at a time; do the tests notice?"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from .mutants import sample
from .trial import put_to_trial, suite_of
from .workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutation"
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
    return parser.parse_args()


def main() -> int:
    """Try a sample; 0 whatever comes of it, since the report is the result."""
    given = arguments()
    share, shares = map(int, given.share.split("/"))
    mutants = sample(ROOT, given.seed, given.sample, tuple(given.paths))
    mutants = mutants[given.skip :][share - 1 :: shares]
    if given.list:
        for mutant in mutants:
            print(f"{place(mutant)}\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}")
        return 0
    workspace = Workspace(ROOT, given.folder.resolve(), given.budget)
    suites = {tuple(suite_of(mutant.path)["tests"]) for mutant in mutants}
    workspace.prepare([] if given.unchecked else [list(tests) for tests in sorted(suites)])
    outcomes = []
    for mutant in mutants:
        outcome = put_to_trial(workspace, mutant)
        outcomes.append(outcome)
        print(f"{outcome.what:12} {outcome.seconds:5.0f} s  {place(mutant)}  {outcome.why}")
        if outcome.what == "survived":
            print(f"  - {mutant.before.strip()}\n  + {mutant.after.strip()}")
        sys.stdout.flush()
        write(given, outcomes)
    print(summary(outcomes))
    return 0


def place(mutant) -> str:
    return f"{mutant.path}:{mutant.line} ({mutant.operator})"


def write(given, outcomes) -> None:
    """After each mutant, so that a run that is ended has its report."""
    report = {
        "seed": given.seed,
        "sample": given.sample,
        "paths": given.paths,
        "summary": summary(outcomes),
        "mutants": [outcome.record() for outcome in outcomes],
    }
    (given.folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")


def summary(outcomes) -> str:
    """How many of those that change behavior, as far as that is known, were noticed."""
    counts = Counter(outcome.what for outcome in outcomes)
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
