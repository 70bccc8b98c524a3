# SPDX-License-Identifier: Apache-2.0
"""Every member of every class, called on objects without state: an error, never a crash."""

import functools

import pytest

from .child_programs import FOLDER, failures_of

PROGRAM = FOLDER / "member_calls.py"


run = functools.partial(failures_of, timeout=600)


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
