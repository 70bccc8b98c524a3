# SPDX-License-Identifier: Apache-2.0
"""The driver's log: what a buffer holds, what a callback receives, and what a file contains."""

import ctypes

import pytest

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE = 1
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)


@pytest.fixture
def start(driver):
    """Return a position of the log, behind which four entries stand."""
    position = ctypes.c_uint32()
    assert driver.cuLogsCurrent(ctypes.byref(position), 0) == 0
    for flags in (5, 6):  # each refusal has a reason and a result
        assert driver.cuStreamCreate((ctypes.c_uint64 * 1)(), flags) == INVALID_VALUE
    return position.value


def dumped(driver, start, room):
    """Return the text that fits in a buffer, the reported size and the next position."""
    position, size = ctypes.c_uint32(start), ctypes.c_size_t(room)
    text = ctypes.create_string_buffer(b"?" * (room + 8))
    assert driver.cuLogsDumpToMemory(ctypes.byref(position), text, ctypes.byref(size), 0) == 0
    assert text.raw[room : room + 8] == b"?" * 8  # nothing is written beyond the buffer
    assert text.raw[size.value : size.value + 1] == b"\0"
    return text.raw[: size.value], position.value


def test_a_smaller_buffer_receives_the_newest_entries(driver, start):
    whole, end = dumped(driver, start, 4096)
    lines = whole.splitlines(keepends=True)
    assert (len(lines), end) == (4, start + 4)
    assert dumped(driver, start, len(whole) + 1) == (whole, end)
    assert dumped(driver, start, len(whole)) == (b"".join(lines[1:]), end)
    last = len(lines[3])
    assert dumped(driver, start, last + 1) == (lines[3], end)
    assert dumped(driver, start, last) == (b"", end)
    assert dumped(driver, start, 1) == (b"", end)
    assert dumped(driver, end, 4096) == (b"", end)
    assert dumped(driver, start + 3, 4096) == (lines[3], end)


def test_a_file_receives_all_entries(driver, start, tmp_path):
    whole, end = dumped(driver, start, 4096)
    position, path = ctypes.c_uint32(start), tmp_path / "log.txt"
    assert driver.cuLogsDumpToFile(ctypes.byref(position), bytes(path), 0) == 0
    assert (path.read_bytes(), position.value) == (whole, end)
    absent = bytes(tmp_path / "absent" / "log.txt")
    position.value = start
    assert driver.cuLogsDumpToFile(ctypes.byref(position), absent, 0) == INVALID_VALUE
    assert driver.cuLogsDumpToFile(ctypes.byref(position), bytes(path), 1) == INVALID_VALUE
    assert position.value == start


def test_a_callback_receives_each_entry_until_it_is_unregistered(driver):
    received = []
    callback = CALLBACK(lambda *entry: received.append(entry))
    handle = ctypes.c_uint64()
    assert driver.cuLogsRegisterCallback(callback, 77, ctypes.byref(handle)) == 0
    assert driver.cuLogsRegisterCallback(None, 77, None) == INVALID_VALUE
    received.clear()
    assert driver.cuStreamCreate((ctypes.c_uint64 * 1)(), 5) == INVALID_VALUE
    assert [(data, level, size == len(text)) for data, level, text, size in received] == [
        (77, 0, True),
        (77, 0, True),
    ]
    assert b"the flags of a stream" in received[0][2]
    assert received[1][2].endswith(b"Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuStreamCreate")
    assert driver.cuLogsUnregisterCallback(handle) == 0
    received.clear()
    assert driver.cuLogsUnregisterCallback(handle) == INVALID_VALUE
    assert received == []
