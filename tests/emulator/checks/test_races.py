# SPDX-License-Identifier: Apache-2.0
"""The race check names planted races, and reports nothing for their correct twins."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .races import CASES, CORRECT

ROOT = Path(__file__).parents[3]


def run_all(*names, **options):
    settings = {f"HALFWARP_EMULATOR_{name.upper()}": value for name, value in options.items()}
    done = subprocess.run(
        [sys.executable, "-m", "tests.emulator.checks.run_races", *names],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_CHECK": "race"}
        | settings,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def findings():
    return run_all()


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


def without_addresses(findings):
    text = json.dumps(findings)
    return re.sub(r"0x[0-9a-f]+|stream \d+", "#", text)


def test_reports_do_not_depend_on_the_run(findings):
    assert without_addresses(run_all(mode="eager")) == without_addresses(findings)


def test_another_interleaving_of_correct_code_has_no_report():
    findings = run_all(mode="adversarial", seed="7")
    assert not {name: each["twin"] for name, each in findings.items() if each["twin"]}


def test_without_the_check_nothing_is_reported():
    findings = run_all("block_store_store", check="memory,sync")
    assert findings == {"block_store_store": {"mistake": [], "twin": []}}
