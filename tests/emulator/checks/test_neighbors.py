# SPDX-License-Identifier: Apache-2.0
"""The reports about another object name the object of the pointer and the distance."""

from .run_cases import run_all


def test_a_report_names_the_object_and_the_distance():
    findings = run_all("neighbors", "before_the_allocation", check="neighbor")
    (report,) = findings["before_the_allocation"]["mistake"]
    lines = report.splitlines()
    assert lines[0].startswith("neighbor: an address based on the allocation of 16384 bytes lies ")
    assert lines[0].endswith("before its start, in kernel 'kernel'")
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) stores at ")
    assert "compare the index with the number of elements" in report
