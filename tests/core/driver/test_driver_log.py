# SPDX-License-Identifier: Apache-2.0
"""The driver's own log: its entries, and the notes that exceptions get from it."""

import os
import threading

import pytest
from cuda.bindings import driver
from cuda.core._core import _explaining_lines, _lines_of

LINES = [
    "an earlier mistake",
    "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree",
    "the block is too large",
    "at most 1024 threads",
    "the block is too large",
    "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernelEx",
]
NAME = "CUDA_ERROR_INVALID_VALUE"


def test_the_last_failure_is_found():
    assert _explaining_lines(LINES, NAME) == ["at most 1024 threads", "the block is too large"]
    assert _explaining_lines([], NAME) == []


def test_text_of_the_exception_is_not_repeated():
    assert _explaining_lines(LINES, f"{NAME}: at most 1024 threads [emulated]") == [
        "the block is too large"
    ]
    assert _explaining_lines(LINES, f"{NAME}: the block is too large: at most 1024 threads") == []


def test_the_log_of_another_failure_is_left_out():
    assert _explaining_lines(LINES, "CUDA_ERROR_NOT_FOUND: nothing of that name") == []


def test_lines_of_other_threads_stay_available_to_them():
    text = "\n".join(f"[12:46:23.854][{thread}][CUDA][E] of {thread}" for thread in (17, 18, 17))
    assert _lines_of("no log line\n[1][x][y][z] text\n" + text, 17) == ["of 17", "of 17"]
    assert _lines_of("", 17) == []
    assert _lines_of("", 18) == ["of 18"]
    assert _lines_of("", 18) == []


def test_lines_of_the_last_64_threads_are_stored():
    for thread in range(100, 200):
        assert _lines_of(f"[12:46:23.854][{thread}][CUDA][E] of {thread}", 1) == []
    assert _lines_of("", 100) == _lines_of("", 135) == []
    assert [_lines_of("", thread) for thread in range(136, 200)] == [
        [f"of {thread}"] for thread in range(136, 200)
    ]


def test_each_thread_gets_its_own_lines(run_python):
    """The emulator's log repeats the texts of its errors, so all lines are shown here."""
    code = """
import threading
from cuda.core import CUDAError, Device, Stream, _core
_core._explaining_lines = lambda lines, known: lines
def fail(number):
    Device(0).set_current()
    for round in range(20):
        handle = 0x5000 + 16 * (20 * number + round)
        try:
            Stream.from_handle(handle).sync()
        except CUDAError as error:
            lines = error.__notes__[0].splitlines()[1:]
            wrong = [line for line in lines if "0x" in line and hex(handle) not in line]
            if wrong or len(lines) < 2 or not any(hex(handle) in line for line in lines):
                print(number, round, lines)
threads = [threading.Thread(target=fail, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""
    output = run_python(code, HALFWARP_BACKEND="emulator", allowed=("emulator",))
    assert output == "done\n"


@pytest.fixture
def failure(device):
    """Make a call fail, and return the log entries of that call."""

    def fail():
        (error, start) = driver.cuLogsCurrent(0)
        assert error == driver.CUresult.CUDA_SUCCESS
        assert driver.cuMemFree(12345)[0] != driver.CUresult.CUDA_SUCCESS
        return start

    return fail


def test_a_failing_call_writes_its_log(emulation, failure, tmp_path):
    start = failure()
    path = tmp_path / "log"
    driver.cuLogsDumpToFile(start, os.fsencode(path), 0)
    lines = path.read_text().splitlines()
    assert lines[-1].endswith("Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree")
    assert f"[{threading.get_ident()}][CUDA][E]" in lines[0]


def test_an_exception_has_the_further_lines_of_the_log(run_python):
    code = """
from cuda.core import Device, _core, CUDAError
Device(0).set_current()
_core._explaining_lines = lambda lines, known: lines[-1:]
def fail():
    try:
        Device(0).create_stream().sync() if False else _core.Stream.from_handle(12345).sync()
    except CUDAError as error:
        return error.__notes__
print(fail()[0].splitlines()[0], "from" in fail()[0])
"""
    output = run_python(code, HALFWARP_BACKEND="emulator", allowed=("emulator",))
    assert output == "the driver's log: True\n"


def test_a_forked_child_does_not_change_the_log(run_python):
    code = """
import os
from cuda.core import Device, CUDAError, Stream
device = Device(0)
device.set_current()
if os.fork() == 0:
    try:
        Stream.from_handle(12345).sync()
    except Exception as error:
        os._exit(len(getattr(error, "__notes__", ())))
    os._exit(9)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    output = run_python(code, "-W", "ignore", HALFWARP_BACKEND="emulator", allowed=("emulator",))
    assert output == "0\n"
