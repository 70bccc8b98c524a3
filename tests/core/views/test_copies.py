# SPDX-License-Identifier: Apache-2.0
"""Copies between views of any strides: on the host, on the device, and between both."""

import gc

import numpy as np
import pytest
from cuda.core import Buffer, CUDAError, Device, LegacyPinnedMemoryResource, Stream, emulation
from cuda.core._layout import _StridedLayout as Layout
from cuda.core.utils import StridedMemoryView
from cuda.core.views import copy_kernel
from hypothesis import given, settings
from hypothesis import strategies as st

from .strategies import ITEMSIZE, viewed

HOST, PINNED, DEVICE = "host", "pinned", "device"

KERNELS = """
import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource, emulation
from cuda.core.utils import StridedMemoryView

def reversed_by_a_kernel():
    device = Device(0)
    device.set_current()
    with device.create_stream() as stream, device.allocate(12, stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(buffer, (3,), dtype=np.dtype(np.int32))
        target = LegacyPinnedMemoryResource().allocate(12)
        backward = view.view(view._layout[::-1])
        numbers = np.array([1, 2, 3], np.int32)
        view.copy_from(StridedMemoryView.from_array_interface(numbers), stream)
        end = StridedMemoryView.from_buffer(target, (3,), dtype=np.dtype(np.int32))
        end.copy_from(backward, stream)
        stream.sync()
        print(np.from_dlpack(end).tolist())
        target.close()

reversed_by_a_kernel()
print(len(emulation.leaks()))
reversed_by_a_kernel()
emulation.reset()
reversed_by_a_kernel()
"""


class MemoryBlock:
    """Memory of one kind with numbers, viewed through layouts."""

    def __init__(self, kind, numbers, stream):
        self.numbers, self.stream, self.buffer = np.array(numbers), stream, None
        size = max(self.numbers.nbytes, 1)
        if kind == PINNED:
            self.buffer = LegacyPinnedMemoryResource().allocate(size)
        elif kind == DEVICE:
            self.buffer = stream.device.allocate(size, stream=stream)
        if self.buffer is not None and self.numbers.size:
            self.full_view().copy_from(view_of(self.numbers), stream)

    def full_view(self):
        if self.buffer is None:
            return view_of(self.numbers)
        return StridedMemoryView.from_buffer(
            self.buffer, self.numbers.shape, dtype=self.numbers.dtype
        )

    def view(self, layout):
        return self.full_view().view(layout)

    def content(self):
        result = np.zeros_like(self.numbers)
        view_of(result).copy_from(self.full_view(), self.stream)
        return result

    def close(self):
        if self.buffer is not None:
            self.buffer.close(self.stream)


def view_of(array):
    return StridedMemoryView.from_array_interface(array)


@pytest.fixture(autouse=True)
def forget_kernels():
    """Forget cached copy kernels, which would be reported as leaks of the test."""
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
@given(pair=viewed(), data=st.data())
def test_any_layout_is_copied_to_any_other(stream, source, target, pair, data):
    memory, array, layout = pair
    order = tuple(data.draw(st.permutations(range(array.ndim))))
    gap = data.draw(st.integers(1, 2))
    dense = Layout.dense(layout.shape, ITEMSIZE, order)
    strides = tuple(gap * stride for stride in dense.strides)
    other = Layout(layout.shape, strides, ITEMSIZE)
    start = MemoryBlock(source, memory, stream)
    end = MemoryBlock(target, np.full(gap * max(array.size, 1), -1, np.int32), stream)
    end.view(other).copy_from(start.view(layout), stream)
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
    place = MemoryBlock(kind, array.reshape(-1), stream)
    layout = Layout.dense((3, 4, 5), array.itemsize).permuted((2, 0, 1))[::-1, 1:]
    result = np.zeros((5, 2, 4), dtype)
    StridedMemoryView.from_array_interface(result).copy_from(place.view(layout), stream)
    assert result.tobytes() == array.transpose(2, 0, 1)[::-1, 1:].tobytes()
    place.close()


def test_addresses_without_alignment(stream):
    place = MemoryBlock(DEVICE, np.arange(64, dtype=np.uint8), stream)
    view = place.full_view()
    odd = view.view(Layout((5, 3), (10, 3), 1)[:, :])
    moved = view.view(Layout((62,), None, 1)[1:]).view(Layout((5, 3), (10, 3), 1))
    result = np.zeros((5, 3), np.uint8)
    view_of(result).copy_from(odd, stream)
    assert np.array_equal(result, [[10 * i + 3 * j for j in range(3)] for i in range(5)])
    view_of(result).copy_from(moved, stream)
    assert result[0, 0] in (0, 1)
    place.close()


def test_a_broadcast_source_is_repeated(stream):
    place = MemoryBlock(DEVICE, np.arange(3, dtype=np.int32), stream)
    end = MemoryBlock(DEVICE, np.zeros(12, np.int32), stream)
    spread = place.full_view().view(place.full_view()._layout.broadcast_to((4, 3)))
    end.view(Layout.dense((4, 3), 4)).copy_from(spread, stream)
    assert end.content().tolist() == [0, 1, 2] * 4
    place.close()
    end.close()


def test_copy_to_is_the_reverse_of_copy_from(stream):
    array, result = np.arange(6).reshape(2, 3), np.zeros((3, 2), int)
    assert view_of(array).copy_to(view_of(result.T)) is None
    assert np.array_equal(result.T, array)


@pytest.mark.parametrize("method", ["copy_from", "copy_to"])
def test_a_capture_refuses_strided_host_memory(stream, method):
    """The graph would copy a packed block, not the elements at the time of its launch."""
    with LegacyPinnedMemoryResource().allocate(16) as buffer:
        packed = StridedMemoryView.from_buffer(buffer, (4,), dtype=np.uint32)
        strided = view_of(np.zeros(8, np.uint32)[::2])
        builder = stream.device.create_graph_builder().begin_building()
        with pytest.raises(TypeError, match="capturing stream does not support .* strided host"):
            getattr(packed, method)(strided, stream=builder, blocking=False)
        builder.end_building().close()


def test_without_elements_or_axes(stream):
    view_of(np.zeros((0, 3))).copy_from(view_of(np.ones((0, 3))))
    place = MemoryBlock(DEVICE, np.array([7], np.int32), stream)
    result = np.array(0, np.int32)
    view_of(result).copy_from(place.view(Layout((), (), 4)), stream)
    assert result == 7
    place.close()


class TestSynchronization:
    def test_copies_between_device_and_host_block_by_default(self, stream, emulation):
        place = MemoryBlock(PINNED, np.arange(4), stream)
        end = MemoryBlock(DEVICE, np.zeros(4, int), stream)
        for blocking, waits in ((None, True), (True, True), (False, False)):
            with emulation.inject("cuStreamSynchronize", optional=True) as waiting:
                try:
                    end.full_view().copy_from(place.full_view(), stream, blocking=blocking)
                except CUDAError as error:
                    assert error.where == "cuStreamSynchronize"
            assert bool(waiting.hits) is waits
        stream.sync()
        place.close()
        end.close()

    def test_copies_on_the_device_do_not_block(self, stream, emulation):
        start, end = (MemoryBlock(DEVICE, np.arange(4), stream) for _ in range(2))
        with emulation.inject("cuStreamSynchronize", optional=True) as waiting:
            end.full_view().copy_from(start.full_view(), stream)
        assert waiting.hits == 0
        start.close()
        end.close()

    def test_packed_elements_use_the_allocator(self, stream):
        sizes = []

        class Recording:
            def allocate(self, size, *, stream):
                sizes.append(size)
                return stream.device.memory_resource.allocate(size, stream=stream)

        place = MemoryBlock(DEVICE, np.arange(24, dtype=np.int32), stream)
        result = np.zeros((4, 3), np.int32)
        source = place.view(Layout((4, 3), (6, 2), 4))
        view_of(result).copy_from(source, stream, allocator=Recording())
        assert result[1].tolist() == [6, 8, 10]
        assert sizes == [48]
        place.close()


class Waiting(Stream):
    """A stream that calls a function when a copy waits for it."""

    waits = None

    def sync(self):
        super().sync()
        if self.waits:
            self.waits()


class TestWaits:
    """A copy that the host makes waits for the stream, and checks its memory again."""

    @pytest.fixture
    def waiting(self, stream):
        stream.device.set_current()
        waiting = Waiting._legacy_default()
        yield waiting
        waiting.waits = None

    @pytest.fixture
    def on_host(self):
        """Return a Buffer over host memory."""
        array = np.zeros(3, np.int32)
        return Buffer.from_handle(array.ctypes.data, array.nbytes, owner=array)

    def test_the_host_copies_after_the_work_of_the_stream(self, waiting):
        source, target = np.zeros(3, np.int32), np.zeros(3, np.int32)
        waiting.waits = lambda: source.fill(7)
        view_of(target).copy_from(view_of(source), waiting)
        assert target.tolist() == [7] * 3

    @pytest.mark.parametrize("method", ["copy_from", "copy_to"])
    def test_memory_that_was_closed_meanwhile_is_not_copied_on_the_host(
        self, waiting, on_host, method
    ):
        view = StridedMemoryView.from_buffer(on_host, (3,), dtype=np.int32)
        waiting.waits = on_host.close
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            getattr(view, method)(view_of(np.ones(3, np.int32)), waiting)

    def test_a_target_that_was_closed_meanwhile_is_not_written(self, stream, waiting, on_host):
        place = MemoryBlock(DEVICE, np.arange(6, dtype=np.int32), stream)
        stream.sync()
        view = StridedMemoryView.from_buffer(on_host, (3,), dtype=np.int32)
        waiting.waits = on_host.close
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            view.copy_from(place.view(Layout((3,), (2,), 4)), waiting)
        place.close()


class TestRefusals:
    def test_of_staging_memory_that_a_kernel_cannot_access(self, stream):
        class OnHost:
            def allocate(self, size, *, stream):
                self.memory = np.zeros(size, np.uint8)
                return Buffer.from_handle(self.memory.ctypes.data, size, owner=self.memory)

        place = MemoryBlock(DEVICE, np.arange(24, dtype=np.int32), stream)
        source = place.view(Layout((4, 3), (6, 2), 4))
        with pytest.raises(ValueError, match=r"OnHost\.allocate\(\) must return device-accessible"):
            view_of(np.zeros((4, 3), np.int32)).copy_from(source, stream, allocator=OnHost())
        place.close()

    def test_of_a_stream_without_a_device(self, stream):
        class Odd(Stream):
            device = None

        place = MemoryBlock(DEVICE, np.arange(24, dtype=np.int32), stream)
        source = place.view(Layout((4, 3), (6, 2), 4))
        odd = Odd._legacy_default()
        with pytest.raises(
            TypeError, match=r"Stream\.device of .*Odd must return a Device, got None"
        ):
            view_of(np.zeros((4, 3), np.int32)).copy_from(source, odd)
        place.close()

    def test_of_views_that_do_not_match(self):
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

    def test_of_read_only_memory(self):
        array = np.zeros(3)
        array.flags.writeable = False
        with pytest.raises(BufferError, match="read-only"):
            view_of(array).copy_from(view_of(np.ones(3)))

    def test_of_targets_with_overlapping_elements(self):
        view = view_of(np.zeros(1))
        spread = view.view(Layout((3,), (0,), 8))
        with pytest.raises(ValueError, match="may share memory"):
            spread.copy_from(view_of(np.ones(3)))

    def test_of_a_copy_without_a_stream_on_a_device(self, stream):
        place = MemoryBlock(DEVICE, np.zeros(3), stream)
        with pytest.raises(TypeError, match="stream is required"):
            place.full_view().copy_from(view_of(np.zeros(3)))
        with pytest.raises(TypeError, match="Stream.* expected"):
            place.full_view().copy_from(view_of(np.zeros(3)), 3)
        place.close()

    def test_of_a_closed_buffer(self, stream):
        place = MemoryBlock(DEVICE, np.zeros(3), stream)
        view = place.full_view()
        place.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            view.copy_from(view_of(np.zeros(3)), stream)

    def test_a_failed_launch_leaks_nothing(self, stream, emulation):
        place = MemoryBlock(DEVICE, np.arange(24, dtype=np.int32), stream)
        result = np.zeros((4, 3), np.int32)
        source = place.view(Layout((4, 3), (6, 2), 4))
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


@pytest.mark.skipif(not emulation.is_active(), reason="only the emulator reports leaks")
def test_the_kernels_of_copies_are_no_leaks_and_survive_a_reset(run_python):
    assert run_python(KERNELS).splitlines() == ["[3, 2, 1]", "0", "[3, 2, 1]", "[3, 2, 1]"]
