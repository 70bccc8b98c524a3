# SPDX-License-Identifier: Apache-2.0
"""Copies between views of any strides: on the host, on the device, and between them."""

import gc

import numpy as np
import pytest
from cuda.core import CUDAError, Device, LegacyPinnedMemoryResource
from cuda.core._layout import _StridedLayout as Layout
from cuda.core.utils import StridedMemoryView
from cuda.core.views import copy_kernel
from hypothesis import given, settings
from hypothesis import strategies as st

from .strategies import ITEMSIZE, viewed

HOST, PINNED, DEVICE = "host", "pinned", "device"


class Place:
    """Memory of one kind that holds numbers, to be looked at under a layout."""

    def __init__(self, kind, numbers, stream):
        self.numbers, self.stream, self.buffer = np.array(numbers), stream, None
        size = max(self.numbers.nbytes, 1)
        if kind == PINNED:
            self.buffer = LegacyPinnedMemoryResource().allocate(size)
        elif kind == DEVICE:
            self.buffer = stream.device.allocate(size, stream=stream)
        if self.buffer is not None and self.numbers.size:
            self.whole().copy_from(view_of(self.numbers), stream)

    def whole(self):
        if self.buffer is None:
            return view_of(self.numbers)
        return StridedMemoryView.from_buffer(
            self.buffer, self.numbers.shape, dtype=self.numbers.dtype
        )

    def seen(self, layout):
        return self.whole().view(layout)

    def content(self):
        result = np.zeros_like(self.numbers)
        view_of(result).copy_from(self.whole(), self.stream)
        return result

    def close(self):
        if self.buffer is not None:
            self.buffer.close(self.stream)


def view_of(array):
    return StridedMemoryView.from_array_interface(array)


@pytest.fixture(autouse=True)
def no_kernels_stay():
    """They are kept for the process, and count as left behind by the test."""
    yield
    copy_kernel.forget()


@pytest.fixture(scope="module")
def stream():
    device = Device(0)
    device.set_current()
    with device.create_stream() as stream:
        yield stream


@pytest.mark.parametrize("source", [HOST, PINNED, DEVICE])
@pytest.mark.parametrize("target", [HOST, PINNED, DEVICE])
@settings(deadline=None, max_examples=25)
@given(made=viewed(), data=st.data())
def test_any_layout_to_any_other(stream, source, target, made, data):
    memory, array, layout = made
    order = tuple(data.draw(st.permutations(range(array.ndim))))
    gap = data.draw(st.integers(1, 2))
    dense = Layout.dense(layout.shape, ITEMSIZE, order)
    strides = tuple(gap * stride for stride in dense.strides)
    other = Layout(layout.shape, strides, ITEMSIZE)
    start = Place(source, memory, stream)
    end = Place(target, np.full(gap * max(array.size, 1), -1, np.int32), stream)
    end.seen(other).copy_from(start.seen(layout), stream)
    stream.sync()
    written = end.content()
    expected = np.full_like(written, -1)
    np.lib.stride_tricks.as_strided(expected, layout.shape, [ITEMSIZE * s for s in strides])[
        ...
    ] = array
    assert np.array_equal(written, expected)
    start.close()
    end.close()


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "c16", "V3", "V12", "V20"])
@pytest.mark.parametrize("kind", [HOST, DEVICE])
def test_elements_of_any_size(stream, dtype, kind):
    bytes_of = np.arange(60 * np.dtype(dtype).itemsize, dtype=np.uint8)
    array = bytes_of.view(dtype).reshape(3, 4, 5)
    place = Place(kind, array.reshape(-1), stream)
    layout = Layout.dense((3, 4, 5), array.itemsize).permuted((2, 0, 1))[::-1, 1:]
    result = np.zeros((5, 2, 4), dtype)
    StridedMemoryView.from_array_interface(result).copy_from(place.seen(layout), stream)
    assert result.tobytes() == array.transpose(2, 0, 1)[::-1, 1:].tobytes()
    place.close()


def test_addresses_that_are_not_aligned(stream):
    place = Place(DEVICE, np.arange(64, dtype=np.uint8), stream)
    whole = place.whole()
    odd = whole.view(Layout((5, 3), (10, 3), 1)[:, :])
    moved = whole.view(Layout((62,), None, 1)[1:]).view(Layout((5, 3), (10, 3), 1))
    result = np.zeros((5, 3), np.uint8)
    view_of(result).copy_from(odd, stream)
    assert np.array_equal(result, [[10 * i + 3 * j for j in range(3)] for i in range(5)])
    view_of(result).copy_from(moved, stream)
    assert result[0, 0] in (0, 1)
    place.close()


def test_a_broadcast_source_is_spread(stream):
    place = Place(DEVICE, np.arange(3, dtype=np.int32), stream)
    end = Place(DEVICE, np.zeros(12, np.int32), stream)
    spread = place.whole().view(place.whole()._layout.broadcast_to((4, 3)))
    end.seen(Layout.dense((4, 3), 4)).copy_from(spread, stream)
    assert end.content().tolist() == [0, 1, 2] * 4
    place.close()
    end.close()


def test_copy_to_is_copy_from_the_other_way(stream):
    array, result = np.arange(6).reshape(2, 3), np.zeros((3, 2), int)
    assert view_of(array).copy_to(view_of(result.T)) is None
    assert np.array_equal(result.T, array)


def test_without_elements_or_axes(stream):
    view_of(np.zeros((0, 3))).copy_from(view_of(np.ones((0, 3))))
    place = Place(DEVICE, np.array([7], np.int32), stream)
    result = np.array(0, np.int32)
    view_of(result).copy_from(place.seen(Layout((), (), 4)), stream)
    assert result == 7
    place.close()


class TestWhoWaits:
    def test_a_device_and_the_host_do_by_default(self, stream, emulation):
        place = Place(PINNED, np.arange(4), stream)
        end = Place(DEVICE, np.zeros(4, int), stream)
        for blocking, waits in ((None, True), (True, True), (False, False)):
            with emulation.inject("cuStreamSynchronize", optional=True) as waiting:
                try:
                    end.whole().copy_from(place.whole(), stream, blocking=blocking)
                except CUDAError as error:
                    assert error.where == "cuStreamSynchronize"
            assert bool(waiting.hits) is waits
        stream.sync()
        place.close()
        end.close()

    def test_two_places_of_the_device_do_not(self, stream, emulation):
        start, end = (Place(DEVICE, np.arange(4), stream) for _ in range(2))
        with emulation.inject("cuStreamSynchronize", optional=True) as waiting:
            end.whole().copy_from(start.whole(), stream)
        assert waiting.hits == 0
        start.close()
        end.close()

    def test_packed_elements_come_from_the_allocator(self, stream):
        asked = []

        class Recording:
            def allocate(self, size, *, stream):
                asked.append(size)
                return stream.device.memory_resource.allocate(size, stream=stream)

        place = Place(DEVICE, np.arange(24, dtype=np.int32), stream)
        result = np.zeros((4, 3), np.int32)
        source = place.seen(Layout((4, 3), (6, 2), 4))
        view_of(result).copy_from(source, stream, allocator=Recording())
        assert result[1].tolist() == [6, 8, 10]
        assert asked == [48]
        place.close()


class TestRefusals:
    def test_of_what_does_not_match(self):
        view = view_of(np.zeros((2, 3), np.float32))
        for other, error, text in (
            (np.zeros((3, 2), np.float32), ValueError, "different shapes"),
            (np.zeros((2, 3), np.float64), ValueError, "different sizes"),
        ):
            with pytest.raises(error, match=text):
                view.copy_from(view_of(other))
        for other in (3, np.zeros((2, 3), np.float32), None):
            with pytest.raises(TypeError, match="StridedMemoryView"):
                view.copy_from(other)
            with pytest.raises(TypeError, match="StridedMemoryView"):
                view.copy_to(other)

    def test_of_memory_that_must_not_be_written(self):
        array = np.zeros(3)
        array.flags.writeable = False
        with pytest.raises(BufferError, match="read-only"):
            view_of(array).copy_from(view_of(np.ones(3)))

    def test_of_elements_that_share_memory(self):
        view = view_of(np.zeros(1))
        spread = view.view(Layout((3,), (0,), 8))
        with pytest.raises(ValueError, match="may share memory"):
            spread.copy_from(view_of(np.ones(3)))

    def test_of_a_copy_without_a_stream_on_a_device(self, stream):
        place = Place(DEVICE, np.zeros(3), stream)
        with pytest.raises(TypeError, match="stream is required"):
            place.whole().copy_from(view_of(np.zeros(3)))
        with pytest.raises(TypeError, match="Stream.* expected"):
            place.whole().copy_from(view_of(np.zeros(3)), 3)
        place.close()

    def test_of_a_buffer_that_was_closed(self, stream):
        place = Place(DEVICE, np.zeros(3), stream)
        view = place.whole()
        place.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            view.copy_from(view_of(np.zeros(3)), stream)

    def test_nothing_is_left_behind_where_the_launch_fails(self, stream, emulation):
        place = Place(DEVICE, np.arange(24, dtype=np.int32), stream)
        result = np.zeros((4, 3), np.int32)
        source = place.seen(Layout((4, 3), (6, 2), 4))
        view_of(result).copy_from(source, stream)  # the kernel is loaded
        gc.collect()
        stream.sync()
        before = len(emulation.leaks())
        with emulation.inject("cuLaunchKernelEx", error="CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"):
            with pytest.raises(CUDAError):
                view_of(result).copy_from(source, stream)
        gc.collect()
        stream.sync()
        assert len(emulation.leaks()) == before
        place.close()
