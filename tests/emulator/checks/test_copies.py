# SPDX-License-Identifier: Apache-2.0
"""The check of barriers finds accesses to the target of an asynchronous copy before its wait."""

import pytest

from .planted.copies import CASES, CORRECT
from .run_cases import run_all, twins_with_reports


@pytest.fixture(scope="module")
def findings():
    return run_all("copies", check="barrier")


@pytest.mark.parametrize("name", CASES)
def test_an_early_access_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and all(each.startswith("async-copy: ") for each in reports)


@pytest.mark.parametrize("name", CASES)
def test_the_correct_twin_has_no_report(findings, name):
    assert findings[name]["twin"] == []


@pytest.mark.parametrize("name", CORRECT)
def test_a_copy_in_flight_to_other_bytes_is_no_mistake(findings, name):
    assert findings[name]["twin"] == []


def test_a_report_names_the_access_and_the_copy(findings):
    (report,) = findings["read_without_wait"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "async-copy: an access before the wait for the asynchronous copy to these bytes, "
        "byte 0 of shared memory, in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) accesses the bytes at ")
    assert lines[2].startswith("  thread (0,0,0) of block (0,0,0) stored at ")
    assert "cp.async.wait_group and __syncthreads()" in report


def test_findings_do_not_depend_on_the_interleaving(findings):
    late = run_all("copies", check="barrier", mode="adversarial", seed="3")
    assert {name for name, each in late.items() if each["mistake"]} == set(CASES)
    assert not twins_with_reports(late)
