# SPDX-License-Identifier: Apache-2.0
"""Every member of every class, called on objects without state: an error, never a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "member_calls.py"


def run(*arguments):
    """Return the failures that the program prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", "PYTHONPATH": str(PROGRAM.parent)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("state", ["uninitialized", "forgetful", "closed", "failed"])
def test_members_of_objects_without_state_raise_clear_errors(state):
    assert run(PROGRAM, "--states", state, "--checks", "messages", "--attempts", "3") == []


@pytest.mark.slow
def test_objects_without_state_can_be_passed_to_every_function():
    assert run(PROGRAM, "--checks", "arguments") == []


FAULTY = """
import ctypes, os, member_calls

class Faulty:
    def crash(self):
        ctypes.string_at(8)

    def exhaust(self):
        raise MemoryError("of a check")

    @property
    def broken(self):
        raise SystemError("of a check")

    def __del__(self):
        raise ValueError("of a destructor")

for line in member_calls.ClassRun(Faulty, "Faulty", ["uninitialized"]).failures(3):
    print(line)
"""


def test_failures_are_reported():
    failures = run("-c", FAULTY)
    assert "uninitialized Faulty.crash(): killed by SIGSEGV" in failures
    assert "uninitialized Faulty.exhaust(): MemoryError: of a check" in failures
    assert "uninitialized Faulty.broken: SystemError: of a check" in failures
    assert any("unraisable ValueError: of a destructor" in line for line in failures)
