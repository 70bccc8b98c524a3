# SPDX-License-Identifier: Apache-2.0
"""Any stack of adaptors under any calls: the count of every layer equals the memory in use."""

import contextlib
import gc

import pytest
from cuda.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
)
from hypothesis import given, settings
from hypothesis import strategies as st

LIMIT = 100_000
LAYERS = {
    "statistics": lambda mr, log: StatisticsMemoryResource(mr),
    "limiting": lambda mr, log: LimitingMemoryResource(mr, LIMIT),
    "logging": lambda mr, log: LoggingMemoryResource(mr, log.append),
    "tracking": lambda mr, log: TrackingMemoryResource(mr, stacks=False),
}
stacks = st.lists(st.sampled_from(sorted(LAYERS)), min_size=1, max_size=6)
sizes = st.one_of(st.just(0), st.integers(0, 5000), st.integers(0, LIMIT + 10))
operations = st.lists(
    st.one_of(
        st.tuples(st.just("allocate"), sizes),
        st.tuples(st.sampled_from(["close", "drop", "view", "other stream"]), st.integers(0, 30)),
        st.tuples(st.just("close the resource"), st.integers(0, 5)),
    ),
    max_size=40,
)


class Stack:
    """A stack of adaptors, and its live buffers."""

    def __init__(self, names, device, stream):
        self.log = []
        self.layers = []
        self.upstream = mr = DeviceMemoryResource(device)
        self.is_limited = "limiting" in names
        for name in names:
            mr = LAYERS[name](mr, self.log)
            self.layers.append(mr)
        self.top = mr
        self.stream, self.other = stream, device.create_stream()
        self.buffers = []
        self.allocations = 0

    def allocate(self, size):
        in_use = sum(buffer.size for buffer in self.buffers)
        try:
            self.buffers.append(self.top.allocate(size, stream=self.stream))
        except OutOfMemoryError as error:
            assert self.is_limited and in_use + size > LIMIT
            assert error.limit == LIMIT and error.used == in_use
        except RuntimeError as error:
            assert any(layer.is_closed for layer in self.layers), error
        else:
            self.allocations += 1
            assert not self.is_limited or in_use + size <= LIMIT

    def free(self, method, number):
        if not self.buffers:
            return
        buffer = self.buffers.pop(number % len(self.buffers))
        if method == "close":
            buffer.close()
        elif method == "view":
            view = buffer.resize_view(0, buffer.size)
            buffer.close()
            view.close()
        elif method == "other stream":
            buffer.close(self.other)
        del buffer

    def run(self, operation, number):
        if operation == "allocate":
            self.allocate(number)
        elif operation == "close the resource":
            self.layers[number % len(self.layers)].close()
        else:
            self.free(operation, number)

    def check(self):
        out = sum(buffer.size for buffer in self.buffers)
        for layer in self.layers:
            figures = layer.statistics()
            assert figures["allocated_bytes.current"] == out
            assert figures["allocation_count.current"] == len(self.buffers)
            assert figures["allocation_count.total"] == self.allocations
            assert figures["allocated_bytes.peak"] >= out
            if isinstance(layer, TrackingMemoryResource):
                records = layer.report_leaks()
                assert sorted((r.address, r.size) for r in records) == sorted(
                    (b.handle, b.size) for b in self.buffers
                )


@settings(max_examples=60, deadline=None)
@given(stacks, operations)
def test_nothing_is_lost_or_counted_twice(names, calls):
    device = Device(0)
    device.set_current()
    with device.create_stream() as stream:
        stack = Stack(names, device, stream)
        for operation, number in calls:
            stack.run(operation, number)
            stack.check()
        stack.buffers.clear()
        gc.collect()
        stack.check()
        actions = [event.action for event in stack.log]
        logs = names.count("logging")
        assert actions.count("allocate") == actions.count("free") == logs * stack.allocations
        stack.other.close()


def test_each_driver_call_below_may_fail(device, emulation):
    """With all adaptors stacked, counts return to zero and nothing leaks."""
    names = ["statistics", "logging", "tracking", "limiting"]

    def use(upstream):
        with device.create_stream() as stream:
            mr, log = upstream, []
            layers = []
            for name in names:
                mr = LAYERS[name](mr, log)
                layers.append(mr)
            try:
                with contextlib.suppress(CUDAError), mr.allocate(5000, stream=stream) as buffer:
                    buffer.fill(1, stream=stream)
            finally:
                gc.collect()
                for layer in layers:
                    assert layer.statistics()["allocation_count.current"] == 0

    for make in (DeviceMemoryResource, lambda device: DeviceMemoryResource(device, {})):
        upstream = make(device)
        use(upstream)
        assert emulation.sweep(lambda upstream=upstream: use(upstream)) > 0


def test_virtual_memory_that_fails_returns_its_share(device, stream, emulation):
    virtual = VirtualMemoryResource(device)
    unit = virtual.allocate(1, stream=stream)
    size = unit.size
    unit.close()
    mr = LimitingMemoryResource(virtual, size)
    for function in ("cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"):
        with emulation.inject(function), pytest.raises(OutOfMemoryError):
            mr.allocate(size, stream=stream)
    mr.allocate(size, stream=stream).close()
