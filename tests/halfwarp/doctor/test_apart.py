# SPDX-License-Identifier: Apache-2.0
"""Probes in processes of their own: a crash, hang or exception is a finding."""

import sys

import pytest

from halfwarp.doctor import apart


@pytest.fixture
def only_problem():
    def of(findings):
        (problem,) = findings.problems
        assert findings.facts == {}
        return problem["what"]

    return of


def test_a_probe_returns_from_another_process():
    findings = apart.examine("python")
    assert findings.facts["version"] == ".".join(map(str, sys.version_info[:3]))
    assert findings.problems == findings.warnings == []


def test_all_probes_run():
    expected = {
        *apart.WITHOUT_OURS,
        *apart.WITH_OURS,
        *(f"libraries:{name}" for name in apart.present_here()),
    }
    assert set(apart.examine_all()) == expected


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("import os; os.kill(os.getpid(), 11)", "ended with signal 11"),
        ("raise SystemExit('out of luck')", "ended with status 1: out of luck"),
        ("print('{}', 'noise')", "ended with status 0"),
    ],
    ids=["crash", "exit", "noise"],
)
def test_a_failing_probe_is_a_finding(monkeypatch, only_problem, code, outcome):
    monkeypatch.setattr(apart, "START", code)
    assert only_problem(apart.examine("python")) == f"the examination of 'python' {outcome}"


def test_a_hanging_probe_is_killed(monkeypatch, only_problem):
    monkeypatch.setattr(apart, "START", "import threading; threading.Event().wait()")
    problem = only_problem(apart.examine("python", time_limit=0.5))
    assert problem == "the examination of 'python' did not answer within 0.5 s"


def test_an_interpreter_that_cannot_be_started_is_a_finding(monkeypatch, only_problem):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert "could not be started" in only_problem(apart.examine("python"))
