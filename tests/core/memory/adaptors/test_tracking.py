# SPDX-License-Identifier: Apache-2.0
"""Memory in use and the place of its allocation; the report at exit."""

import pytest
from cuda.core import (
    CallbackMemoryResource,
    DeviceMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    TrackingMemoryResource,
)


def make(mr, size, stream):
    return mr.allocate(size, stream=stream)


def test_a_record_reports_the_place_of_the_allocation(device, stream):
    mr = TrackingMemoryResource(DeviceMemoryResource(device))
    with make(mr, 100, stream) as first, make(StatisticsMemoryResource(mr), 50, stream) as second:
        records = mr.report_leaks()
        assert [record.address for record in records] == [first.handle, second.handle]
        assert [record.size for record in records] == [100, 50]
        assert {record.stream for record in records} == {int(stream.handle)}
        assert all(0 <= record.age < 60 for record in records)
        for record in records:
            assert "in make\n" in record.traceback[-1]
            assert "return mr.allocate(size, stream=stream)" in record.traceback[-1]
            assert "test_a_record_reports_the_place" in "".join(record.traceback)
        assert f"100 bytes at {first.handle:#x}" in str(records[0])
    assert mr.report_leaks() == []


def test_stacks_can_be_disabled(device, stream):
    mr = TrackingMemoryResource(DeviceMemoryResource(device), stacks=False)
    with mr.allocate(100, stream=stream):
        assert mr.report_leaks()[0].traceback is None


def test_a_deep_stack_is_truncated(device, stream):
    mr = TrackingMemoryResource(DeviceMemoryResource(device))

    def deep(n):
        if n % 2:
            return deep(n - 1)  # two alternating lines, because equal lines are merged
        return deep(n - 1) if n else mr.allocate(8, stream=stream)

    with deep(200):
        assert len(mr.report_leaks()[0].traceback) == 64


def test_an_error_reports_the_largest_allocations(device, stream):
    limited = LimitingMemoryResource(DeviceMemoryResource(device), 1000)
    mr = TrackingMemoryResource(limited)
    buffers = [make(mr, size, stream) for size in range(1, 21)]
    with pytest.raises(OutOfMemoryError) as caught:
        mr.allocate(1000, stream=stream)
    error = caught.value
    assert [record.size for record in error.largest_allocations] == list(range(20, 10, -1))
    assert "the largest allocations in use:\n  20 bytes, make() at" in str(error)
    assert "of its limit of 1000 bytes" in str(error)
    for buffer in buffers:
        buffer.close()


def test_only_the_innermost_tracker_adds_a_report(stream):
    inner = TrackingMemoryResource(CallbackMemoryResource(lambda size, _: size < 9 and 64, print))
    inner._upstream._free = lambda *_: None
    mr = TrackingMemoryResource(inner)
    with mr.allocate(8, stream=stream):
        with pytest.raises(OutOfMemoryError) as caught:
            mr.allocate(9, stream=stream)
        assert str(caught.value).count("the largest allocations in use") == 1


PROGRAM = """
from cuda.core import Device, DeviceMemoryResource, TrackingMemoryResource
device = Device(0)
device.set_current()
mr = TrackingMemoryResource(DeviceMemoryResource(device))
buffer = mr.allocate(4321, stream=device.default_stream)
"""


def run(code, **environment):
    import os
    import subprocess
    import sys

    return subprocess.run(
        [sys.executable, "-c", PROGRAM + code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def error_lines(done):
    assert done.returncode == 0, done.stderr
    notice = "halfwarp: CUDA is emulated"
    return [line for line in done.stderr.splitlines() if not line.startswith(notice)]


def test_memory_in_use_at_exit_is_reported():
    lines = error_lines(run("", HALFWARP_REPORT_LEAKS="1"))
    assert lines[0].startswith("halfwarp: 1 allocations of <TrackingMemoryResource of ")
    assert lines[0].endswith("4321 bytes, were not freed:")
    assert lines[1].startswith("4321 bytes at 0x") and "<module>" in lines[2]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("", ""),
        ("", "0"),
        ("buffer.close()", "1"),
        ("import atexit; atexit.register(buffer.close)", "1"),
        ("del buffer, mr", "1"),
        ("import sys; sys.stderr = None", "1"),
    ],
)
def test_otherwise_exit_is_silent(code, value):
    assert error_lines(run(code, HALFWARP_REPORT_LEAKS=value)) == []


def test_a_failed_report_is_one_line():
    code = """
class Wrong(TrackingMemoryResource):
    def report_leaks(self):
        raise KeyError("nothing")
wrong = Wrong(mr)
"""
    assert error_lines(run(code, HALFWARP_REPORT_LEAKS="1")) == [
        "halfwarp: the report of allocations failed: KeyError('nothing')"
    ]


def test_a_closed_stderr_is_no_error():
    run_closed = "import sys; sys.stderr.close()"
    assert run(run_closed, HALFWARP_REPORT_LEAKS="1").returncode == 0


def test_a_forked_child_reports_nothing():
    code = """
import os, sys
if os.fork() == 0:
    sys.exit(0)
assert os.wait()[1] == 0
buffer.close()
"""
    assert error_lines(run(code, HALFWARP_REPORT_LEAKS="1")) == []
