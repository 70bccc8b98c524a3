# SPDX-License-Identifier: Apache-2.0
"""The programs of the guide: each check finds its mistake, and nothing in the corrected program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[3] / "docs/guide/checks"
KINDS = {"race": "race", "init": "uninitialized", "hazard": "hazard", "barrier": "barrier"}


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, f"{name}.py", *arguments],
        env={
            **os.environ,
            "HALFWARP_BACKEND": "emulator",
            "HALFWARP_EMULATOR_CHECK": "all",
        },
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    reports = done.stderr.splitlines()
    return [line for line in reports if line.startswith(tuple(f"{k}: " for k in KINDS.values()))]


@pytest.mark.parametrize("name", KINDS)
def test_the_mistake_is_reported(name):
    reports = run(name)
    assert reports and all(each.startswith(f"{KINDS[name]}: ") for each in reports)


@pytest.mark.parametrize("name", KINDS)
def test_the_corrected_program_has_no_report(name):
    assert run(name, "corrected") == []
