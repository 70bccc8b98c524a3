# SPDX-License-Identifier: Apache-2.0
"""Several threads on one object: it may be closed at any time, and is closed once.

These tests find more on a free-threaded build, and hold with the GIL too.
"""

import ctypes
import gc
import random
import threading
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from cuda.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    launch,
)

from ...libraries import is_installed
from ...threads import run_together

OBJECTS = 150
ONE = LaunchConfig(grid=1, block=1)
TIMED = EventOptions(timing_enabled=True)


INVALID = "CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_INVALID_VALUE"


def expect_closed(use, *arguments, answers=INVALID):
    """Return a use of an object that another thread closes: it works, or reports the closed object.

    `answers` are the statuses of a driver that may see a handle closed after its check.
    """
    try:
        use(*arguments)
    except RuntimeError as error:
        assert "has been closed" in str(error), error
    except CUDAError as error:
        assert error.name in answers, error


def close_while_used(objects, uses, answers=INVALID):
    """Two threads close all objects while others use them, each in its own order."""

    def close():
        Device(0).set_current()
        for each in objects:
            each.close()

    def use(seed):
        Device(0).set_current()
        chosen = random.Random(seed)
        for each in objects:
            for operation in chosen.sample(uses, len(uses)):
                expect_closed(operation, each, answers=answers)

    run_together(close, close, *(partial(use, seed) for seed in range(3)))
    assert all(each.is_closed for each in objects)


def read_all(*names):
    """Return a use that reads each of these attributes."""
    return [lambda each, name=name: getattr(each, name) for name in names]


class TestClosing:
    def test_events(self, stream):
        events = [stream.record(options=TIMED) for _ in range(OBJECTS)]
        other = stream.record(options=TIMED)
        uses = [
            *read_all("handle", "context", "device", "is_timing_enabled", "is_blocking_sync"),
            *read_all("is_ipc_enabled", "is_done"),
            repr,
            hash,
            other.__eq__,
            stream.wait,
            stream.record,
            lambda event: event - other if event.is_done and other.is_done else None,
            lambda event: event.sync(),
        ]
        close_while_used(events, uses, answers=())  # a driver crashes on a closed handle

    def test_streams(self, device, stream):
        streams = [device.create_stream() for _ in range(OBJECTS)]
        pool = DeviceMemoryResource(device)
        uses = [
            *read_all("handle", "context", "device", "is_nonblocking", "priority", "is_done"),
            repr,
            hash,
            stream.__eq__,
            stream.wait,
            lambda each: each.wait(stream),
            lambda each: each.record().close(),
            lambda each: each.sync(),
            lambda each: pool.allocate(64, stream=each).close(stream),
        ]
        close_while_used(streams, uses)

    def test_buffers_of_a_pool(self, device, stream):
        pool = DeviceMemoryResource(device, {})
        buffers = [pool.allocate(64, stream=stream) for _ in range(OBJECTS)]
        uses = [
            *read_all("handle", "size", "memory_resource", "owner", "device_id"),
            *read_all("is_device_accessible", "is_host_accessible", "is_managed"),
            repr,
            hash,
            lambda each: each.set_deallocation_stream(stream),
            lambda each: each.__dlpack_device__(),
            lambda each: each.__dlpack__(stream=-1),
        ]
        close_while_used(buffers, uses)
        del buffers
        gc.collect()
        stream.sync()
        assert pool.attributes.used_mem_current == 0
        pool.close()

    def test_exported_host_buffers_are_not_freed(self, device):
        pinned = LegacyPinnedMemoryResource()
        buffers = [pinned.allocate(64) for _ in range(OBJECTS)]

        def close():
            Device(0).set_current()
            for each in buffers:
                while not each.is_closed:
                    with suppress(BufferError):  # exported on another thread
                        each.close()

        def look():
            for each in buffers:
                try:
                    view = memoryview(each)
                except RuntimeError:
                    continue
                assert len(bytes(view)) == 64
                assert not each.is_closed
                view.release()

        run_together(close, close, look, look)

    def test_memory_resources(self, device, stream):
        pools = [DeviceMemoryResource(device, {}) for _ in range(OBJECTS // 5)]
        uses = [
            *read_all("handle", "attributes", "is_handle_owned", "release_threshold"),
            lambda pool: pool.trim(),
            lambda pool: pool.allocate(64, stream=stream).close(),
        ]
        close_while_used(pools, uses)

    def test_wrappers_of_a_context(self, device, stream):
        contexts = [stream.context for _ in range(OBJECTS)]

        def close():  # where no context is current
            for each in contexts:
                each.close()

        def use():
            for each in contexts:
                for operation in (
                    repr,
                    hash,
                    device.context.__eq__,
                    *read_all("handle", "is_green"),
                ):
                    expect_closed(operation, each)

        run_together(close, close, use, use)
        assert all(each.is_closed for each in contexts)

    def test_programs(self):
        if not is_installed("nvrtc"):
            pytest.skip("NVRTC is not installed")
        programs = [Program("__global__ void f() {}", "c++") for _ in range(20)]
        close_while_used(programs, [*read_all("handle", "pch_status", "backend"), repr])


class TestFirstUse:
    """Objects that are created on first access are created once."""

    def test_of_a_device(self):
        def fresh():
            return run_together(lambda: Device(0))[0]

        for device in [fresh() for _ in range(20)]:
            results = run_together(*[partial(query_device, device)] * 6)
            assert all(result == results[0] for result in results)
            assert len({id(result[0]) for result in results}) == 1
            assert len({id(result[1]) for result in results}) == 1

    def test_of_a_kernel(self, load_kernel):
        for _ in range(20):
            kernel = load_kernel()
            results = run_together(*[lambda k=kernel: (k.attributes, k.occupancy)] * 6)
            assert len({id(item) for result in results for item in result}) == 2

    def test_of_the_attributes_of_a_pool(self, device):
        for _ in range(20):
            pool = DeviceMemoryResource(device, {})
            assert len(set(map(id, run_together(*[lambda p=pool: p.attributes] * 6)))) == 1
            pool.close()


def test_a_kernel_attribute_has_its_last_value(load_kernel):
    kernel = load_kernel()
    stop = threading.Event()

    def set_often():
        Device(0).set_current()
        for percent in [10, 20] * 300:
            kernel.attributes.preferred_shared_memory_carveout = percent
            time.sleep(0)  # lets a reader continue that has already queried
            assert kernel.attributes.preferred_shared_memory_carveout == percent
        stop.set()

    def read_often():
        Device(0).set_current()
        while not stop.is_set():
            assert kernel.attributes.preferred_shared_memory_carveout in (-1, 10, 20)

    run_together(set_often, read_often, read_often)


def query_device(device):
    device.set_current()
    resource, properties = device.memory_resource, device.properties
    return resource, properties, device.uuid, device.arch, tuple(properties.as_dict().items())


def test_a_prepared_launch_is_updated_while_it_is_launched(stream, store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 0)
    values = range(1, 5)

    def patch(value):
        for _ in range(200):
            prepared[1] = value
            assert prepared[1] in values

    def relaunch():
        Device(0).set_current()
        with Device(0).create_stream() as own:
            for _ in range(100):
                prepared(own)
            own.sync()

    run_together(*(partial(patch, value) for value in values), relaunch, relaunch)
    prepared(stream)
    stream.sync()
    assert ctypes.c_uint32.from_address(pinned_block.handle).value == prepared[1]


def test_arguments_of_new_types_are_recognized_by_all_threads(stream, store, pinned_block):

    def work(seed):
        Device(0).set_current()
        chosen = random.Random(seed)
        for _ in range(60):
            kind = type("Kind", (chosen.choice([ctypes.c_uint32, np.uint32, int]),), {})
            launch(stream, ONE, store, pinned_block, kind(7))

    run_together(*(partial(work, seed) for seed in range(4)))
    stream.sync()
    assert ctypes.c_uint32.from_address(pinned_block.handle).value == 7
