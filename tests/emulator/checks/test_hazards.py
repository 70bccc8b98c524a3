# SPDX-License-Identifier: Apache-2.0
"""The check of hazards names operations of several streams that miss an order."""

import re

import pytest

from .planted import hazards, programs
from .run_cases import run_all, twins_with_reports

CASES = hazards.CASES | programs.CASES


def run_hazards(**options):
    return run_all(None, runner="run_hazards", **options)


@pytest.fixture(scope="module")
def findings():
    return run_hazards(check="hazard")


@pytest.mark.parametrize("name", CASES)
def test_a_hazard_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and all(each.startswith("hazard: ") for each in reports)


@pytest.mark.parametrize("name", CASES)
def test_the_correct_twin_has_no_report(findings, name):
    assert findings[name]["twin"] == []


@pytest.mark.parametrize("name", hazards.CORRECT)
def test_an_ordered_program_has_no_report(findings, name):
    assert findings[name]["mistake"] == findings[name]["twin"] == []


@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_findings_do_not_depend_on_the_interleaving(findings, mode):
    repeated = run_hazards(check="hazard", mode=mode, seed="5")
    assert {name: len(each["mistake"]) for name, each in repeated.items()} == {
        name: len(each["mistake"]) for name, each in findings.items()
    }
    assert not twins_with_reports(repeated)


def test_a_report_names_both_operations_and_the_wait(findings):
    (report,) = findings["kernel_after_kernel"]["mistake"]
    lines = report.splitlines()
    assert re.fullmatch(
        r"hazard: kernel 'read' at .*hazards.py:\d+ on stream \d+ reads bytes that kernel 'write' "
        r"at .*hazards.py:\d+ on stream \d+ writes, and nothing orders the two operations",
        lines[0],
    )
    assert lines[1].startswith("  memory: 0 bytes into the live 4096-byte allocation at ")
    assert "stream.wait(other.record())" in lines[-1]


def test_other_checks_have_no_report_about_ordered_programs():
    assert not twins_with_reports(run_hazards(check="memory,sync,race,hazard"))
