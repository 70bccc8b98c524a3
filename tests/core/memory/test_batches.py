# SPDX-License-Identifier: Apache-2.0
"""prefetch_batch, discard_batch, discard_prefetch_batch."""

import numpy as np
import pytest
from cuda.core import CUDAError, DeviceMemoryResource, Host, ManagedMemoryResource
from cuda.core.utils import discard_batch, discard_prefetch_batch, prefetch_batch

WITH_PLACES = [prefetch_batch, discard_prefetch_batch]
ALL = [*WITH_PLACES, discard_batch]


def call(function, stream, buffers, places=None):
    if function is discard_batch:
        return function(stream, buffers)
    return function(stream, buffers, Host() if places is None else places)


@pytest.fixture
def buffers(device, stream):
    if not device.properties.concurrent_managed_access:
        pytest.skip("the device has no concurrent managed access")
    resource = ManagedMemoryResource({})
    buffers = [resource.allocate(1 << 16, stream=stream) for _ in range(4)]
    yield buffers
    for each in buffers:
        each.close()
    resource.close()


@pytest.mark.parametrize("function", WITH_PLACES)
def test_one_location_applies_to_all(function, buffers, device, stream):
    call(function, stream, buffers, device)
    assert [each.last_prefetch_location for each in buffers] == [device] * 4


@pytest.mark.parametrize("function", WITH_PLACES)
def test_each_can_have_its_own_location(function, buffers, device, stream):
    places = [device, device, Host(), device]
    call(function, stream, tuple(buffers), places)
    assert [each.last_prefetch_location for each in buffers] == places


def test_prefetched_buffers_keep_their_bytes(buffers, stream):
    for i, each in enumerate(buffers):
        each.fill(i, stream=stream)
    prefetch_batch(stream, buffers, Host())
    stream.sync()
    assert [set(np.frombuffer(each, np.uint8)) for each in buffers] == [{0}, {1}, {2}, {3}]


@pytest.mark.parametrize("function", [discard_batch, discard_prefetch_batch])
def test_bytes_written_after_a_discard_are_kept(function, buffers, stream):
    call(function, stream, buffers)
    for each in buffers:
        each.fill(8, stream=stream)
    stream.sync()
    assert [set(np.frombuffer(each, np.uint8)) for each in buffers] == [{8}] * 4


@pytest.mark.parametrize("function", ALL)
class TestWrongCalls:
    def test_a_single_buffer_is_no_sequence(self, function, buffers, stream):
        text = f"^{function.__name__}: pass a sequence of Buffers; for a single buffer use the"
        with pytest.raises(TypeError, match=text):
            call(function, stream, buffers[0])

    @pytest.mark.parametrize("value", ["ab", b"ab", 3, None, {1}])
    def test_what_is_no_sequence(self, function, stream, value):
        text = f"^{function.__name__}: expected a sequence of Buffers, got {type(value).__name__}$"
        with pytest.raises(TypeError, match=text):
            call(function, stream, value)

    def test_an_empty_sequence(self, function, stream):
        with pytest.raises(ValueError, match=f"^{function.__name__}: empty buffers sequence"):
            call(function, stream, [])

    def test_another_element(self, function, buffers, stream):
        with pytest.raises(TypeError, match=f"^{function.__name__}: expected Buffer, got int"):
            call(function, stream, [buffers[0], 3])

    def test_other_memory(self, function, buffers, device, stream):
        with DeviceMemoryResource(device).allocate(64, stream=stream) as memory:
            with pytest.raises(ValueError, match=f"^{function.__name__} requires a managed"):
                call(function, stream, [buffers[0], memory])

    def test_a_closed_buffer(self, function, buffers, stream):
        buffers[1].close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            call(function, stream, buffers)

    def test_no_stream(self, function, buffers):
        with pytest.raises(TypeError, match="stream is required and must not be None"):
            call(function, None, buffers)

    def test_a_driver_that_refuses(self, function, buffers, stream, emulation):
        with (
            emulation.inject("cuMem*BatchAsync", error="CUDA_ERROR_UNKNOWN"),
            pytest.raises(CUDAError, match=r"\[cuMem\w*BatchAsync\]"),
        ):
            call(function, stream, buffers)
        call(function, stream, buffers)


@pytest.mark.parametrize("function", WITH_PLACES)
class TestWrongLocations:
    def test_a_different_number_of_locations(self, function, buffers, device, stream):
        with pytest.raises(ValueError, match="location length 1 does not match targets length 4"):
            call(function, stream, buffers, [device])

    def test_none(self, function, buffers, stream):
        with pytest.raises(ValueError, match="location is required"):
            function(stream, buffers, None)

    @pytest.mark.parametrize("wrong", [3, "device"])
    def test_another_type(self, function, buffers, stream, wrong):
        with pytest.raises(TypeError, match="location must be a Device, Host, or None"):
            call(function, stream, buffers, [Host(), Host(), Host(), wrong])
        assert buffers[0].last_prefetch_location is None
