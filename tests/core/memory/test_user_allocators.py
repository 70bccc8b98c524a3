# SPDX-License-Identifier: Apache-2.0
"""The results of a user's `allocate` that each caller of it accepts and rejects."""

import gc

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    DeviceMemoryResource,
    MemoryResource,
    PoolMemoryResource,
    StatisticsMemoryResource,
)
from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor
from cuda.core.utils import StridedMemoryView
from cuda.core.views import copy_kernel

SIZE = 1 << 16


@pytest.fixture(autouse=True)
def no_kernels():
    """Unload the copy kernels of views, which would count as leaks of the test."""
    yield
    copy_kernel.forget()
    gc.collect()


class Answer(MemoryResource):
    """A resource that returns the result of a function of the allocated buffer."""

    is_device_accessible, is_host_accessible, device_id = True, False, 0

    def __init__(self, device, change):
        self.inner, self.change, self.buffers = DeviceMemoryResource(device), change, []

    def allocate(self, size, *, stream):
        buffer = self.inner.allocate(size, stream=stream)
        self.buffers.append(buffer)
        return self.change(buffer, size)

    def deallocate(self, ptr, size, *, stream):
        pass


def closed(buffer, size):
    buffer.close()
    return buffer


def smaller(buffer, size):
    return buffer.resize_view(0, size - 1)


ANSWERS = [
    (lambda buffer, size: None, TypeError, r"allocate\(\) must return a Buffer, got NoneType"),
    (lambda buffer, size: buffer.handle, TypeError, r"must return a Buffer, got int"),
    (closed, ValueError, r"allocate\(\) returned a closed Buffer"),
    (smaller, ValueError, r"must return a Buffer of at least \d+ bytes, got \d+ bytes"),
]


def from_device(device, resource, stream):
    before = device.memory_resource
    device.memory_resource = resource
    try:
        return device.allocate(SIZE, stream=stream)
    finally:
        device.memory_resource = before


def from_copy(device, resource, stream):
    with DeviceMemoryResource(device).allocate(SIZE, stream=stream) as memory:
        return Buffer.from_handle(memory.handle, SIZE, mr=resource, stream=stream).copy_to(
            stream=stream
        )


def from_staging(device, resource, stream):
    with DeviceMemoryResource(device).allocate(SIZE, stream=stream) as memory:
        target = StridedMemoryView.from_buffer(memory, (64, 64), dtype="f4")[:, ::2]
        source = StridedMemoryView.from_dlpack(np.zeros((64, 32), "f4"), -1)
        target.copy_from(source, stream, resource)


CALLERS = [
    from_device,
    from_copy,
    from_staging,
    lambda device, resource, stream: StatisticsMemoryResource(resource).allocate(
        SIZE, stream=stream
    ),
    lambda device, resource, stream: PoolMemoryResource(device, upstream=resource).allocate(
        SIZE, stream=stream
    ),
    lambda device, resource, stream: PoolMemoryResource(
        device, upstream=resource, initial_size=SIZE
    ),
]


@pytest.mark.parametrize("call", CALLERS)
@pytest.mark.parametrize(("change", "error", "message"), ANSWERS)
def test_an_invalid_result_is_rejected(device, stream, call, change, error, message):
    with pytest.raises(error, match=message):
        call(device, Answer(device, change), stream)


PROGRAM_WITH_TWO_DEVICES = """
import numpy as np
from cuda.core import Device, DeviceMemoryResource, MemoryResource, PoolMemoryResource
from cuda.core.utils import StridedMemoryView

device, other = Device(0), Device(1)
other.set_current()
far = DeviceMemoryResource(other).allocate(4 << 20, stream=other.create_stream())
device.set_current()
stream = device.create_stream()
memory = device.allocate(1024, stream=stream)


class Far(MemoryResource):
    is_device_accessible, is_host_accessible, device_id = True, False, 0

    def allocate(self, size, *, stream):
        return far


def from_staging():
    target = StridedMemoryView.from_buffer(memory, (16, 16), dtype="f4")[:, ::2]
    source = StridedMemoryView.from_dlpack(np.zeros((16, 8), "f4"), -1)
    target.copy_from(source, stream, Far())


def from_device():
    device.memory_resource = Far()
    device.allocate(64, stream=stream)


def from_pool():
    PoolMemoryResource(device, upstream=Far()).allocate(64, stream=stream)


for call in (from_staging, from_pool, from_device):
    try:
        call()
    except ValueError as error:
        assert "must return memory of device 0, got memory of device 1" in str(error), error
    else:
        raise AssertionError(call)
"""


def test_memory_of_another_device_is_rejected(run_python, two_devices):
    run_python(PROGRAM_WITH_TWO_DEVICES, **two_devices)


class TestUpstreamOfAPool:
    def test_one_buffer_cannot_be_two_segments(self, device, stream):
        memory = DeviceMemoryResource(device).allocate(32 << 20, stream=stream)
        pool = PoolMemoryResource(device, upstream=Answer(device, lambda buffer, size: memory))
        with pool.allocate(4 << 20, stream=stream):
            with pytest.raises(ValueError, match="has already returned to this pool"):
                pool.allocate(4 << 20, stream=stream)
        assert pool.statistics()["reserved_bytes.current"] == 4 << 20
        pool.close()

    def test_closing_the_upstream_buffer_does_not_free_a_segment(self, device, stream):
        upstream = Answer(device, lambda buffer, size: buffer)
        pool = PoolMemoryResource(device, upstream=upstream)
        with pool.allocate(1000, stream=stream) as buffer:
            upstream.buffers[0].close()
            buffer.fill(1, stream=stream)
            with upstream.inner.allocate(2 << 20, stream=stream) as other:
                assert not other.handle <= buffer.handle < other.handle + other.size
        pool.close()

    @pytest.mark.parametrize(("offset", "alignment"), [(256, 256), (64, 512)])
    def test_unaligned_memory_is_not_exceeded(self, device, stream, offset, alignment):
        def shifted(buffer, size):
            return large(buffer, size).resize_view(offset, size)

        def large(buffer, size):
            memories.append(upstream.inner.allocate(size + offset, stream=stream))
            return memories[-1]

        memories = []
        upstream = Answer(device, shifted)
        pool = PoolMemoryResource(device, upstream=upstream)
        with pool.allocate(2 << 20, stream=stream) as buffer:
            start = memories[-1].handle
            assert buffer.handle % alignment == 0
            assert start <= buffer.handle
            assert buffer.handle + buffer.size <= start + memories[-1].size
        pool.close()

    def test_upstream_must_respect_the_padding(self, device, stream):
        def fixed(buffer, size):
            memories.append(upstream.inner.allocate(4 << 20, stream=stream))
            return memories[-1].resize_view(64, 2 << 20)

        memories = []
        upstream = Answer(device, fixed)
        with pytest.raises(ValueError, match=r"at least 2097664 bytes, got 2097152"):
            PoolMemoryResource(device, upstream=upstream).allocate(2 << 20, stream=stream)


def test_deeply_nested_resources_are_an_error(device, stream):
    resource = None
    for _ in range(400):
        resource = PoolMemoryResource(device, upstream=resource)
    with pytest.raises(RecursionError, match="nested more than 200 deep"):
        resource.allocate(8, stream=stream)
    resource = DeviceMemoryResource(device)
    for _ in range(20):
        resource = MemoryResourceAdaptor(PoolMemoryResource(device, upstream=resource))
    resource.allocate(8, stream=stream).close()
