# SPDX-License-Identifier: Apache-2.0
"""The check of uninitialized memory names the use of bytes that nobody wrote."""

import pytest

from .planted.uninitialized import CASES, CORRECT
from .run_cases import run_all, twins_with_reports, without_addresses


@pytest.fixture(scope="module")
def findings():
    return run_all("uninitialized", check="init")


@pytest.mark.parametrize("name", CASES)
def test_a_use_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and all(each.startswith("uninitialized: ") for each in reports)


@pytest.mark.parametrize("name", CASES)
def test_the_correct_twin_has_no_report(findings, name):
    assert findings[name]["twin"] == []


@pytest.mark.parametrize("name", CORRECT)
def test_a_copy_of_unwritten_bytes_has_no_report(findings, name):
    assert findings[name]["twin"] == []


def test_a_report_names_the_use_the_load_and_the_memory(findings):
    (report,) = findings["branch_on_memory"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "uninitialized: condition of a branch from 4 of 4 bytes that nobody wrote, "
        "in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) uses the value at ")
    assert lines[2].startswith("  thread (0,0,0) of block (0,0,0) read at ")
    assert "  memory: 0 bytes into the live 16384-byte allocation at " in report
    assert "  count: 32 times" in lines


def test_the_undefined_bytes_of_a_wider_load_are_counted(findings):
    assert "from 4 of 16 bytes" in findings["partial_vector"]["mistake"][0]


def test_a_copy_to_the_host_is_reported(findings):
    (report,) = findings["padding_compared"]["mistake"]
    assert report.startswith(
        "uninitialized: copy to the host of 16384 bytes, of which nobody wrote 128, "
        "from byte 0 on\n"
    )


def test_reports_do_not_depend_on_the_run(findings):
    findings_in_eager_mode = run_all("uninitialized", check="init", mode="eager")
    assert without_addresses(findings_in_eager_mode) == without_addresses(findings)


def test_other_checks_do_not_report_correct_code():
    findings = run_all("uninitialized", check="all", mode="adversarial", seed="7")
    assert not twins_with_reports(findings)


def test_correct_twins_of_races_use_no_unwritten_bytes():
    findings = run_all("races", check="all")
    assert not twins_with_reports(findings)


def test_without_the_check_nothing_is_reported():
    findings = run_all("uninitialized", "as_address", check="sync")
    assert findings == {"as_address": {"mistake": [], "twin": []}}
