# SPDX-License-Identifier: Apache-2.0
"""Coverage of kernels equals a count by hand, and results are those without coverage."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulator.coverage.lines.hand_counted import CASES

pytest.importorskip("coverage")

SCRIPT = Path(__file__).with_name("run_kernels.py")
EMULATED = {**os.environ, "HALFWARP_BACKEND": "emulator"}
CONFIGURATION = "[run]\nbranch = True\nsource = .\n"


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=EMULATED, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The folder of the kernels, after a run with coverage."""
    folder = tmp_path_factory.mktemp("hand_counted")
    (folder / ".coveragerc").write_text(CONFIGURATION)
    for name, (n, source) in CASES.items():
        (folder / f"{name}.{n}.cu").write_text(source)
    outcome = run(folder, "-m", "coverage", "run", str(SCRIPT), ".")
    assert outcome.returncode == 0, outcome.stderr
    (folder / "output").write_text(outcome.stdout)
    plugin = CONFIGURATION.replace("[run]", "[run]\nplugins = halfwarp.coverage")
    (folder / ".coveragerc").write_text(plugin)
    report = run(folder, "-m", "coverage", "json", "-o", "report.json")
    assert report.returncode == 0, report.stderr + report.stdout
    return folder


@pytest.mark.parametrize("name", CASES)
def test_lines_and_branches_equal_the_count_by_hand(measured, name):
    n, source = CASES[name]
    files = json.loads((measured / "report.json").read_text())["files"]
    lines, branches = {"+": set(), "-": set()}, {}
    for number, line in enumerate(source.split("\n"), 1):
        if count := re.search(r"//([+-])(?: (\d)/(\d))?", line):
            lines[count[1]].add(number)
            if count[2]:
                branches[number] = int(count[2]), int(count[3])
    counted = files[f"{name}.{n}.cu"]
    assert set(counted["executed_lines"]) == lines["+"]
    assert set(counted["missing_lines"]) == lines["-"]
    taken, missed = (
        [start for start, _ in counted[f"{kind}_branches"]] for kind in ("executed", "missing")
    )
    assert {
        line: (taken.count(line), taken.count(line) + missed.count(line))
        for line in {*taken, *missed}
    } == branches


def test_results_are_those_without_coverage(measured):
    outcome = run(measured, str(SCRIPT), ".")
    assert outcome.stdout == (measured / "output").read_text()
