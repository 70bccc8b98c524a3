# SPDX-License-Identifier: Apache-2.0
"""The reports about asynchronous copies name the access and the copy."""

from .planted.copies import CASES
from .run_cases import run_all, twins_with_reports


def test_a_report_names_the_access_and_the_copy():
    findings = run_all("copies", "read_without_wait", check="barrier")
    (report,) = findings["read_without_wait"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "async-copy: an access before the wait for the asynchronous copy to these bytes, "
        "byte 0 of shared memory, in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) accesses the bytes at ")
    assert lines[2].startswith("  thread (0,0,0) of block (0,0,0) stored at ")
    assert "cp.async.wait_group and __syncthreads()" in report


def test_findings_do_not_depend_on_the_interleaving():
    late = run_all("copies", *CASES, check="barrier", mode="adversarial", seed="3")
    assert {name for name, each in late.items() if each["mistake"]} == set(CASES)
    assert not twins_with_reports(late)
