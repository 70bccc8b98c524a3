# SPDX-License-Identifier: Apache-2.0
"""Wrong barriers and masks are found, by a fault or by the check of barriers."""

import pytest

from .planted.barriers import CASES, CORRECT
from .run_cases import run_all, twins_with_reports

KINDS = ("barrier", "deadlock", "divergent-barrier", "member-mask", "step-limit")


@pytest.fixture(scope="module")
def findings():
    return run_all("barriers", check="memory,sync,barrier", step_limit="2000000")


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_barrier_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and all(each.startswith(KINDS) for each in reports)


@pytest.mark.parametrize("name", CASES)
def test_the_correct_twin_has_no_report(findings, name):
    assert findings[name]["twin"] == []


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_barrier_has_no_report(findings, name):
    assert findings[name]["twin"] == []


def test_a_skipped_barrier_is_shown_with_the_code_behind_it(findings):
    (report,) = findings["barrier_in_a_branch"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "barrier: threads skip a barrier at which other threads of their block wait, "
        "in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (16,0,0) of block (0,0,0) executes or skips the barrier")
    assert lines[2].startswith("  thread (16,0,0) of block (0,0,0) stored at ")
    assert "__syncthreads() must be reached by all threads" in report


@pytest.mark.parametrize("module", ["races", "uninitialized"])
def test_correct_kernels_have_no_report(module):
    assert not twins_with_reports(run_all(module, check="barrier"))
