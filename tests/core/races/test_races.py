# SPDX-License-Identifier: Apache-2.0
"""Threads that use an object while another closes it: the process continues."""

import pytest

from . import run

SAMPLE = 2
MANY = 1000


@pytest.mark.parametrize("name", run.names())
def test_race(name):
    problems = [run.run(name, seed) for seed in range(SAMPLE)]
    assert not any(problems), "\n".join(filter(None, problems))


@pytest.mark.slow
@pytest.mark.parametrize("name", run.names())
def test_race_many_times(name):
    problems = [problem for seed in range(MANY) if (problem := run.run(name, seed))]
    assert not problems, f"{len(problems)} of {MANY} runs:\n" + "\n".join(problems[:3])


def test_a_program_that_ends_with_a_signal_is_reported(tmp_path, monkeypatch):
    (tmp_path / "abort.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(run, "PROGRAMS", tmp_path)
    assert run.names() == ["abort"]
    assert "abort 7: signal SIGABRT" in run.run("abort", 7)


def test_a_program_that_prints_something_is_reported(tmp_path, monkeypatch):
    (tmp_path / "chatty.py").write_text("import sys\nprint('warning', file=sys.stderr)\n")
    monkeypatch.setattr(run, "PROGRAMS", tmp_path)
    assert "status 0\n\nwarning" in run.run("chatty", 0)
