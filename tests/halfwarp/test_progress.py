# SPDX-License-Identifier: Apache-2.0
"""The progress line of long work: only on a terminal, after a while, and erased at the end."""

import io
import re

import pytest

from halfwarp import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test advances."""
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def lines(terminal):
    return [line for line in terminal.getvalue().split(progress.CLEAR) if line]


def test_it_counts_with_the_remaining_time(clock):
    terminal = Terminal()
    with progress.progress("calls", 4000, terminal) as counted:
        for _ in range(4):
            clock[0] += 1
            counted.step(1000)
    assert lines(terminal)[:2] == [
        "calls: 1,000 of 4,000 (25 %), 3 s left",
        "calls: 2,000 of 4,000 (50 %), 2 s left",
    ]
    assert terminal.getvalue().endswith(progress.CLEAR)


def test_the_first_step_and_the_last_one(clock):
    terminal = Terminal()
    with progress.progress("calls", 3, terminal) as counted:
        for _ in range(3):
            clock[0] += 2
            counted.step()
    assert lines(terminal) == [
        "calls: 1 of 3 (33 %), 4 s left",
        "calls: 2 of 3 (66 %), 2 s left",
        "calls: 3 of 3 (100 %), 0 s left",
    ]


def test_each_line_and_its_end_are_written_at_once(clock):
    terminal, flushed = Terminal(), []
    terminal.flush = lambda: flushed.append(terminal.getvalue())
    with progress.progress("calls", 2, terminal) as counted:
        clock[0] += 2
        counted.step()
    line = f"{progress.CLEAR}calls: 1 of 2 (50 %), 2 s left"
    assert flushed == [line, line + progress.CLEAR]


def test_without_a_total_it_only_counts(clock):
    terminal = Terminal()
    with progress.progress("runs", stream=terminal) as counted:
        clock[0] += 2
        counted.step()
    assert lines(terminal) == ["runs: 1"]


def test_short_work_prints_nothing(clock):
    terminal = Terminal()
    with progress.progress("calls", 10, terminal) as counted:
        for _ in range(10):
            clock[0] += 0.05
            counted.step()
    assert terminal.getvalue() == ""


def test_five_lines_a_second_at_most(clock):
    terminal = Terminal()
    with progress.progress("calls", 10_000, terminal) as counted:
        for _ in range(10_000):
            clock[0] += 0.001
            counted.step()
    assert 40 <= len(lines(terminal)) <= 46


def test_nothing_is_written_to_a_file(clock):
    written = io.StringIO()
    with progress.progress("calls", 3, written) as counted:
        clock[0] += 10
        counted.step(3)
    assert written.getvalue() == "" and counted.done == 3


def test_a_missing_stderr_is_supported(clock, monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with progress.progress("calls", 3) as counted:
        clock[0] += 10
        counted.step()
    assert counted.done == 1


def test_the_line_is_erased_when_the_work_fails(clock):
    terminal = Terminal()
    with pytest.raises(KeyError), progress.progress("calls", 9, terminal) as counted:
        clock[0] += 5
        counted.step()
        raise KeyError
    assert re.fullmatch(r"\r\x1b\[Kcalls: 1 of 9 .*\r\x1b\[K", terminal.getvalue())


def test_a_sweep_over_faults_shows_it(clock, monkeypatch, emulated_calls):
    assert emulated_calls > 1


@pytest.fixture
def emulated_calls(clock, monkeypatch):
    """Return the number of runs that a fault sweep counted."""
    from cuda.core import Device, emulation

    if not emulation.is_active():
        pytest.skip("only the emulator makes calls fail")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    def work():
        clock[0] += 3
        device = Device()
        device.set_current()
        device.create_stream().close()

    emulation.sweep(work)
    return int(re.findall(r"calls that failed: (\d+)", terminal.getvalue())[-1])
