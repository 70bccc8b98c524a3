# SPDX-License-Identifier: Apache-2.0
"""Memory in use never exceeds the limit, and no share of the limit is lost."""

import pytest
from cuda.core import (
    CallbackMemoryResource,
    CUDAError,
    DeviceMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    VirtualMemoryResource,
)

from tests.threads import run_together


def test_the_error_reports_use_and_limit(device, stream):
    mr = LimitingMemoryResource(DeviceMemoryResource(device), 1000)
    assert mr.limit == 1000
    with mr.allocate(600, stream=stream), mr.allocate(400, stream=stream):
        with pytest.raises(OutOfMemoryError, match="1000 of its limit of 1000 bytes") as caught:
            mr.allocate(1, stream=stream)
        assert isinstance(caught.value, CUDAError) and isinstance(caught.value, MemoryError)
        error = caught.value
        assert (error.code, error.name) == (2, "CUDA_ERROR_OUT_OF_MEMORY")
        assert (error.requested, error.used, error.peak, error.limit) == (1, 1000, 1000, 1000)
        assert error.device_id == device.device_id
        assert error.largest_allocations == []
        mr.allocate(0, stream=stream).close()
    mr.allocate(1000, stream=stream).close()


@pytest.mark.parametrize("limit", [-1, "1", 1.5, None])
def test_a_limit_is_a_number_of_bytes(device, limit):
    with pytest.raises((OverflowError, TypeError)):
        LimitingMemoryResource(DeviceMemoryResource(device), limit)


def test_a_limit_above_every_size(device, stream):
    mr = LimitingMemoryResource(DeviceMemoryResource(device), 1 << 80)
    mr.allocate(64, stream=stream).close()
    assert LimitingMemoryResource(mr, 0).allocate(0, stream=stream).size == 0


def test_a_failure_upstream_returns_its_share(stream):
    def fail(size, stream):
        raise KeyError(size)

    mr = LimitingMemoryResource(CallbackMemoryResource(fail, fail), 100)
    for _ in range(3):
        with pytest.raises(KeyError, match="60"):
            mr.allocate(60, stream=stream)
    assert mr.statistics()["allocation_count.total"] == 0


def test_a_failed_free_returns_its_share(stream):
    def fail(ptr, size, stream):
        raise RuntimeError("not that one")

    mr = LimitingMemoryResource(CallbackMemoryResource(lambda *_: 64, fail), 100)
    for _ in range(3):
        buffer = mr.allocate(60, stream=stream)
        with pytest.raises(RuntimeError, match="not that one"):
            buffer.close()
        assert buffer.is_closed


def test_sizes_rounded_up_by_upstream_count(device, stream):
    virtual = VirtualMemoryResource(device)
    with virtual.allocate(1, stream=stream) as buffer:
        unit = buffer.size
    mr = LimitingMemoryResource(virtual, unit + unit // 2)
    with mr.allocate(1, stream=stream) as first:
        assert first.size == unit
        with pytest.raises(OutOfMemoryError) as caught:
            mr.allocate(1, stream=stream)  # one byte fits, its rounded size does not
        assert caught.value.requested == 1
        assert mr.statistics()["allocated_bytes.current"] == unit
    mr.allocate(1, stream=stream).close()


def test_threads_never_exceed_the_limit(device):
    in_use = peak = 0
    sizes = {}

    def alloc(size, stream):
        nonlocal in_use, peak
        address = len(sizes) + 1 << 20
        sizes[address] = size
        in_use += size
        peak = max(peak, in_use)
        return address

    def free(ptr, size, stream):
        nonlocal in_use
        in_use -= size

    mr = LimitingMemoryResource(
        CallbackMemoryResource(alloc, free, is_device_accessible=False), 1000
    )

    def work():
        refused = 0
        for size in range(100, 600, 7):
            try:
                mr.allocate(size, stream=None).close()
            except OutOfMemoryError:
                refused += 1
        return refused

    run_together(*[work] * 4)
    assert peak <= 1000
    assert in_use == 0
    mr.allocate(1000, stream=None).close()
