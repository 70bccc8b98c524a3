# SPDX-License-Identifier: Apache-2.0
"""The race check names planted races, and reports nothing for their correct twins."""

import pytest

from .planted.races import CASES, CORRECT
from .run_cases import run_all, twins_with_reports, without_addresses


@pytest.fixture(scope="module")
def findings():
    return run_all("races", check="race")


@pytest.mark.parametrize("name", CASES)
def test_a_race_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and all(each.startswith("race: ") for each in reports)


@pytest.mark.parametrize("name", CASES)
def test_the_correct_twin_has_no_report(findings, name):
    assert findings[name]["twin"] == []


@pytest.mark.parametrize("name", CORRECT)
def test_correct_code_has_no_report(findings, name):
    assert findings[name]["twin"] == []


def test_a_report_names_both_accesses_and_what_orders_them(findings):
    (report,) = findings["lane_exchange"]["mistake"]
    lines = report.splitlines()
    assert lines[0].startswith("race: write-read of 4 bytes at byte ")
    assert lines[0].endswith(" of shared memory in kernel 'kernel'")
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) reads at ")
    assert lines[2].startswith("  thread (31,0,0) of block (0,0,0) stored at ")
    assert "__syncwarp() after line " in lines[3]
    assert "  count: 32 times" in lines


def test_a_scope_that_is_too_small_is_named(findings):
    assert "use the scope .gpu" in findings["atomic_block_scope"]["mistake"][0]


def test_the_allocation_is_named(findings):
    report = findings["block_store_store"]["mistake"][0]
    assert "memory: 0 bytes into the live 16384-byte allocation" in report
    assert "another launch would order them" in report


def test_reports_do_not_depend_on_the_run(findings):
    findings_in_eager_mode = run_all("races", check="race", mode="eager")
    assert without_addresses(findings_in_eager_mode) == without_addresses(findings)


def test_another_interleaving_of_correct_code_has_no_report():
    findings = run_all("races", check="race", mode="adversarial", seed="7")
    assert not twins_with_reports(findings)


def test_without_the_check_nothing_is_reported():
    findings = run_all("races", "block_store_store", check="memory,sync")
    assert findings == {"block_store_store": {"mistake": [], "twin": []}}
