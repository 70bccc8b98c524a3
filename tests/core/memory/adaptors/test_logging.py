# SPDX-License-Identifier: Apache-2.0
"""The log contains each call once, in order, in whole lines, whatever happens to the process."""

import errno
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cuda.core import (
    CallbackMemoryResource,
    DeviceMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    OutOfMemoryError,
)
from cuda.core.memory.adaptors.log_file import LogFile

from tests.threads import run_together

HEADER = "time_ns,thread,action,address,size,stream"


def rows(path):
    text = Path(path).read_text()
    assert text.endswith("\n")
    head, *lines = text.splitlines()
    assert head == HEADER
    return [line.split(",") for line in lines]


@pytest.fixture
def pool(device):
    return DeviceMemoryResource(device)


def test_each_call_is_a_line(pool, stream, tmp_path):
    path = tmp_path / "log.csv"
    mr = LoggingMemoryResource(LimitingMemoryResource(pool, 1000), path)
    assert rows(path) == []
    buffer = mr.allocate(600, stream=stream)
    address = buffer.handle
    with pytest.raises(OutOfMemoryError):
        mr.allocate(500, stream=stream)
    buffer.close()
    mr.close()
    lines = rows(path)
    handle = hex(int(stream.handle))
    assert [row[2:] for row in lines] == [
        ["allocate", hex(address), "600", handle],
        ["fail", "0x0", "500", handle],
        ["free", hex(address), "600", handle],
    ]
    assert {int(row[1]) for row in lines} == {threading.get_native_id()}
    times = [int(row[0]) for row in lines]
    assert times == sorted(times)


def test_a_function_receives_the_events(pool, stream):
    events = []
    mr = LoggingMemoryResource(pool, events.append)
    with mr.allocate(64, stream=stream) as buffer:
        address = buffer.handle
    mr.flush()
    assert [event.action for event in events] == ["allocate", "free"]
    assert events[0]._fields == tuple(HEADER.split(","))
    assert events[1].address == address and events[1].size == 64
    assert events[1].stream == int(stream.handle)


def test_an_exception_at_an_allocation_leaks_nothing(pool, stream):
    def refuse(event):
        if event.action == "allocate":
            raise ValueError("no more")

    mr = LoggingMemoryResource(pool, refuse)
    for _ in range(3):
        with pytest.raises(ValueError, match="no more"):
            mr.allocate(64, stream=stream)
    assert mr.statistics()["allocation_count.total"] == 0


def test_an_exception_at_a_free_does_not_prevent_it(stream):
    freed = []
    upstream = CallbackMemoryResource(lambda *_: 64, lambda *arguments: freed.append(arguments))

    def refuse(event):
        if event.action == "free":
            raise ValueError("no more")

    buffer = LoggingMemoryResource(upstream, refuse).allocate(8, stream=stream)
    with pytest.raises(ValueError, match="no more"):
        buffer.close()
    assert len(freed) == 1


def test_an_exception_at_a_failure_does_not_hide_it(stream):
    def fail(*arguments):
        raise ValueError("this is no use")

    mr = LoggingMemoryResource(CallbackMemoryResource(lambda *_: 0, fail), fail)
    with pytest.raises(OutOfMemoryError) as caught:
        mr.allocate(8, stream=stream)
    assert caught.value.__notes__ == ["and the log could not be written: this is no use"]


def test_buffered_lines_are_written_at_flush_and_after_many_lines(pool, stream, tmp_path):
    path = tmp_path / "log.csv"
    mr = LoggingMemoryResource(pool, os.fspath(path))
    mr.allocate(64, stream=stream).close()
    assert rows(path) == []
    mr.flush()
    assert len(rows(path)) == 2
    for _ in range(600):
        mr.allocate(64, stream=stream).close()
    assert 1000 < len(rows(path)) <= 1202
    mr.close()
    assert len(rows(path)) == 1202


def test_after_close_the_log_is_unchanged(pool, stream, tmp_path):
    path = tmp_path / "log.csv"
    mr = LoggingMemoryResource(pool, path)
    buffer = mr.allocate(64, stream=stream)
    mr.close()
    mr.close()
    mr.flush()
    buffer.close()
    assert [row[2] for row in rows(path)] == ["allocate"]


def test_a_file_without_write_access_is_an_error_at_construction(pool, tmp_path):
    with pytest.raises(FileNotFoundError):
        LoggingMemoryResource(pool, tmp_path / "nowhere" / "log.csv")
    with pytest.raises(TypeError):
        LoggingMemoryResource(pool, None)


def test_a_full_disk_loses_no_memory(pool, stream):
    if not os.path.exists("/dev/full"):
        pytest.skip("the system has no /dev/full")
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="No space left"):
        LoggingMemoryResource(pool, "/dev/full")
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
allocations = 0
while True:
    try:
        mr.allocate(64, stream=device.default_stream).close()
        allocations += 1
    except OSError:
        break
assert mr.statistics()["allocation_count.current"] == 1, mr.statistics()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
mr.flush()
print(allocations)
"""


def test_a_log_on_a_temporarily_full_disk_is_complete_in_the_end(tmp_path):
    path = tmp_path / "log.csv"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + FULL, path], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    live = 0
    for row in rows(path):
        assert len(row) == 6
        live += {"allocate": 1, "free": -1}[row[2]]
    assert live == 1  # the buffer that the program retains


def test_the_descriptor_is_closed_with_the_resource(pool, tmp_path):
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        mr = LoggingMemoryResource(pool, tmp_path / "log.csv")
    del mr
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before


def test_threads_write_whole_lines_and_no_address_is_live_twice(pool, device, tmp_path):
    path = tmp_path / "log.csv"
    mr = LoggingMemoryResource(pool, path)

    def work():
        device.set_current()
        with device.create_stream() as own:
            for size in range(1, 400):
                mr.allocate(size, stream=own).close()

    run_together(*[work] * 4)
    mr.close()
    live = set()
    lines = rows(path)
    assert len(lines) == 2 * 4 * 399
    for _, _, action, address, _, _ in lines:
        if action == "allocate":
            assert address not in live
            live.add(address)
        else:
            live.remove(address)
    assert not live


PROGRAM = """
import os, sys
from cuda.core import Device, DeviceMemoryResource, LoggingMemoryResource
device = Device(0)
device.set_current()
mr = LoggingMemoryResource(DeviceMemoryResource(device), sys.argv[1])
buffer = mr.allocate(64, stream=device.default_stream)
mr.allocate(32, stream=device.default_stream).close()
"""
ALL = ["allocate", "allocate", "free"]


@pytest.mark.parametrize(
    ("ending", "actions"),
    [
        ("", ALL),
        ("raise SystemExit(0)", ALL),
        ("import atexit; atexit.register(buffer.close)", [*ALL, "free"]),
        ("mr.flush(); mr.allocate(1, stream=device.default_stream); os._exit(0)", ALL),
        ("mr.flush(); buffer.close(); os.kill(os.getpid(), 9)", ALL),
        ("os._exit(0)", []),
    ],
    ids=["end", "exit", "atexit", "_exit", "kill", "unflushed"],
)
def test_lines_are_written_at_exit(tmp_path, ending, actions):
    path = tmp_path / "log.csv"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + ending, path], capture_output=True, text=True, timeout=300
    )
    assert done.returncode in (0, -9), done.stderr
    assert [row[2] for row in rows(path)] == actions


def test_a_free_after_the_flush_at_exit_is_written(tmp_path):
    """Functions that a program registers first run last."""
    path = tmp_path / "log.csv"
    last = "import atexit, os; atexit.register(lambda: (buffer.close(), os._exit(0)))\n"
    subprocess.run([sys.executable, "-c", last + PROGRAM, path], check=True, timeout=300)
    assert [row[2] for row in rows(path)] == [*ALL, "free"]


@pytest.mark.parametrize("has_stderr", [True, False])
@pytest.mark.parametrize("last_call", [LogFile.write_at_once, LogFile.__del__])
def test_an_incomplete_log_is_reported_to_stderr(
    tmp_path, monkeypatch, capfd, last_call, has_stderr
):
    def refuse(*arguments):
        raise OSError(errno.ENOSPC, "no space")

    file = LogFile(tmp_path / "log.csv")
    file.write("a line")
    with monkeypatch.context() as changed:
        changed.setattr(os, "write", refuse)
        if not has_stderr:
            changed.setattr(sys, "stderr", None)
        last_call(file)
    file.close()
    text = f"halfwarp: the log {tmp_path / 'log.csv'} is incomplete: [Errno 28] no space\n"
    assert capfd.readouterr() == ("", text if has_stderr else "")


FORK = """
import gc, os, sys
from cuda.core import Device, DeviceMemoryResource, LoggingMemoryResource
device = Device(0)
device.set_current()
mr = LoggingMemoryResource(DeviceMemoryResource(device), sys.argv[1])
buffer = mr.allocate(64, stream=device.default_stream)
if os.fork() == 0:
    buffer.close()
    mr.flush()
    del buffer, mr
    gc.collect()
    sys.exit(0)
assert os.wait()[1] == 0
buffer.close()
"""


def test_a_forked_child_writes_nothing(run_python, tmp_path):
    path = tmp_path / "log.csv"
    program = FORK.replace("sys.argv[1]", repr(os.fspath(path)))
    run_python(program)
    assert [row[2] for row in rows(path)] == ["allocate", "free"]
