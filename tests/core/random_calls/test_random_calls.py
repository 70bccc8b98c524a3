# SPDX-License-Identifier: Apache-2.0
"""Random sequences of valid and invalid calls: a sample here, a million calls with ``-m slow``."""

import json
import subprocess
import sys

import pytest

from . import search


@pytest.mark.usefixtures("device")
def test_some_sequences():
    """conftest.py checks further resources."""
    outcomes = search.run_sequences(1, range(60), range(30))
    assert min(outcomes["done"], outcomes["refused"]) > outcomes.total() / 4


def test_a_sequence_repeats_itself(capfd):
    names = []
    for steps in (range(20), (3, 7, 19)):
        search.run_sequence(5, 1, steps, show=True)
        names.append([line for line in capfd.readouterr().err.splitlines() if line[:2] == "1 "])
    assert len(names[0]) == 20
    assert names[1] == [names[0][step] for step in (3, 7, 19)]


def test_a_sequence_is_shortened_to_the_steps_of_its_crash():
    class Crashing:
        """Any child that runs the steps 9 and 30 crashes."""

        def start(self, cases, option, steps):
            assert (list(cases), option) == ([6], "--steps")
            return "status -11" if {9, 30} <= set(search.step_numbers(steps)) else "status 0", ""

    assert search.minimal(Crashing(), 6, [*range(50)]) == [9, 30]


def run_search(*options):
    command = [sys.executable, "-m", "tests.core.random_calls.search", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
def test_a_million_calls():
    status, report = run_search("--seed", "2", "--cases", "0:20000", "--processes", "2")
    assert (status, report["problems"]) == (0, [])
    assert report["operations"] == 1_000_000
