# SPDX-License-Identifier: Apache-2.0
"""A search names the cases that end or hang a child, and runs the cases after them."""

from pathlib import Path

import pytest

from ... import search

ROOT = Path(__file__).parents[3]
CHILD = """
import argparse, json, os, sys, time
sys.path.insert(0, {root!r})
from tests.search import Marker, add_options

parser = argparse.ArgumentParser()
add_options(parser)
parser.add_argument("--hang", type=int, default=-1)
options = parser.parse_args()
marker = Marker(options.progress)
for number in options.cases:
    marker.at(number)
    if number in (4, 5):
        print("case", number, file=sys.stderr, flush=True)
        os.abort()
    if number == options.hang:
        time.sleep(100)
print("a kernel prints")
print(json.dumps({{"run": len(options.cases), "peak_kib": number}}))
"""


@pytest.fixture
def command(tmp_path):
    child = tmp_path / "child.py"
    child.write_text(CHILD.format(root=str(ROOT)))
    return [child]


@pytest.mark.parametrize("processes", [1, 3])
def test_cases_around_a_crash_run(command, processes):
    result = search.Search(command, 7, processes).run(range(12))
    problems = sorted(result.problems, key=lambda problem: problem["case"])
    assert [problem["case"] for problem in problems] == [4, 5]
    assert all(problem["how"] == "status -6" and problem["seed"] == 7 for problem in problems)
    assert "case 4" in problems[0]["stderr"]
    # Cases before a crash run in the child that crashes, which counts nothing.
    assert result.counts["run"] == {1: 6, 3: 10}[processes]
    assert result.peak == 11
    assert result.report()["cases"] == 12


def test_a_hang_ends(command, monkeypatch):
    monkeypatch.setattr(search, "PATIENCE", 1)
    result = search.Search([*command, "--hang", "2"], 7).run(range(4))
    assert [(each["case"], each["how"]) for each in result.problems] == [(2, "hang")]
    assert result.counts["run"] == 1


def test_the_status_tells_of_problems(command, capsys):
    assert search.Search(command, 7).run(range(4)).finish() == 0
    assert search.Search(command, 7).run(range(6)).finish() == 1
    assert '"how": "status -6"' in capsys.readouterr().out
