# SPDX-License-Identifier: Apache-2.0
"""The report about a skipped barrier shows the code behind it."""

from .run_cases import run_all


def test_a_skipped_barrier_is_shown_with_the_code_behind_it():
    findings = run_all("barriers", "barrier_in_a_branch", check="barrier")
    (report,) = findings["barrier_in_a_branch"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "barrier: threads skip a barrier at which other threads of their block wait, "
        "in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (16,0,0) of block (0,0,0) executes or skips the barrier")
    assert lines[2].startswith("  thread (16,0,0) of block (0,0,0) stored at ")
    assert "__syncthreads() must be reached by all threads" in report
