# SPDX-License-Identifier: Apache-2.0
"""Buffer: construction, description, closing, copying, filling, exporting."""

import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    DeviceMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
)

from tests.core.views.capsules import content_of
from tests.threads import comes_true


@pytest.fixture
def pinned(device):
    return LegacyPinnedMemoryResource()


class RecordingResource(MemoryResource):
    """Pinned host memory of ctypes that records each deallocation."""

    is_device_accessible = False
    is_host_accessible = True
    device_id = -1

    def __init__(self):
        self.freed = []
        self.blocks = {}

    def allocate(self, size, *, stream=None):
        block = ctypes.create_string_buffer(size)
        address = ctypes.addressof(block)
        self.blocks[address] = block
        return Buffer.from_handle(address, size, mr=self)

    def deallocate(self, ptr, size, *, stream):
        self.freed.append((ptr, size, stream))
        self.blocks.pop(ptr)


def as_array(buffer, dtype=np.uint8):
    return np.from_dlpack(buffer).view(dtype)


class TestConstruction:
    def test_the_class_cannot_be_called(self):
        with pytest.raises(
            RuntimeError,
            match="Buffer objects cannot be instantiated directly. Please use MemoryResource",
        ):
            Buffer()

    def test_a_view_requires_no_driver_and_frees_nothing(self):
        buffer = Buffer.from_handle(0x1000, 16)
        assert (buffer.handle, buffer.size, buffer.memory_resource, buffer.owner) == (
            0x1000,
            16,
            None,
            None,
        )
        buffer.close()
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, True)

    def test_the_pointer_can_be_a_driver_object(self):
        from cuda.bindings import driver

        assert Buffer.from_handle(driver.CUdeviceptr(0x2000), 8).handle == 0x2000

    @pytest.mark.parametrize(
        ("arguments", "keywords", "error"),
        [
            ((None, 8), {}, TypeError),
            ((0x10, -1), {}, OverflowError),
            (("x", 8), {}, TypeError),
            ((0x10, 8), {"mr": 3}, TypeError),
            ((0x10, 8), {"owner": object(), "mr": RecordingResource()}, ValueError),
        ],
    )
    def test_invalid_arguments_are_refused(self, arguments, keywords, error):
        with pytest.raises(error):
            Buffer.from_handle(*arguments, **keywords)

    def test_a_stream_requires_a_resource(self, stream):
        with pytest.raises(ValueError, match=r"stream requires a memory resource \(mr\)"):
            Buffer.from_handle(0x10, 8, stream=stream)

    def test_owner_and_resource_exclude_each_other(self):
        text = "owner and memory resource cannot be both specified together"
        with pytest.raises(ValueError, match=text):
            Buffer.from_handle(0x10, 8, mr=RecordingResource(), owner=object())

    def test_the_owner_is_retained_once_until_close(self):
        owner = object()
        before = sys.getrefcount(owner)
        buffer = Buffer.from_handle(0x10, 8, owner=owner)
        assert buffer.owner is owner
        assert sys.getrefcount(owner) == before + 1
        buffer.close()
        assert sys.getrefcount(owner) == before
        assert buffer.owner is None

    def test_from_handle_of_a_subclass_returns_a_plain_buffer(self):
        class Mine(Buffer):
            pass

        assert type(Mine.from_handle(0x10, 8)) is Buffer
        assert type(Mine._init(0x10, 8)) is Mine


class TestClosing:
    def test_deallocate_is_called_once_with_a_keyword_stream(self):
        resource = RecordingResource()
        buffer = resource.allocate(32)
        address = buffer.handle
        buffer.close()
        buffer.close()
        assert [(ptr, size) for ptr, size, _ in resource.freed] == [(address, 32)]
        assert type(resource.freed[0][0]) is int
        assert repr(buffer) == "<Buffer ptr=0x0 size=0>"

    def test_collection_is_equivalent_to_close(self):
        resource = RecordingResource()
        resource.allocate(32)
        gc.collect()
        assert len(resource.freed) == 1

    @pytest.mark.parametrize("is_shared", [False, True])
    def test_a_cycle_through_the_resource_is_freed_while_the_resource_is_intact(
        self, load_kernel, is_shared
    ):
        """deallocate requires the attributes of the resource."""
        resource = RecordingResource()
        freed = resource.freed
        resource.cached = resource.allocate(32)
        if is_shared:
            kernel = load_kernel(".param .u64 p")
            resource.prepared = kernel.prepare(LaunchConfig(grid=1, block=1), resource.cached)
        del resource
        gc.collect()
        assert len(freed) == 1

    def test_a_cycle_through_a_subclass_of_a_resource_is_freed(self, device):
        class Counting(LegacyPinnedMemoryResource):
            def deallocate(self, ptr, size=0, stream=None):
                self.freed.append(size)
                super().deallocate(ptr, size, stream)

        resource = Counting()
        freed = resource.freed = []
        resource.cached = resource.allocate(32)
        del resource
        gc.collect()
        assert freed == [32]

    def test_close_accepts_the_stream_that_orders_the_free(self, device, stream):
        buffer = device.allocate(64, stream=stream)
        with device.create_stream() as other:
            buffer.close(other)
        assert buffer.is_closed

    def test_an_invalid_stream_leaves_the_buffer_open(self, device, stream):
        with device.allocate(64, stream=stream) as buffer:
            with pytest.raises(TypeError):
                buffer.close("not a stream")
            assert not buffer.is_closed

    def test_close_reports_a_failing_deallocator(self):
        class Failing(RecordingResource):
            def deallocate(self, ptr, size, *, stream):
                super().deallocate(ptr, size, stream=stream)
                raise ArithmeticError("no")

        buffer = Failing().allocate(8)
        with pytest.raises(ArithmeticError):
            buffer.close()
        assert buffer.is_closed

    def test_collection_reports_a_failing_deallocator_on_stderr(self, capfd):
        class Failing(RecordingResource):
            def deallocate(self, ptr, size, *, stream):
                raise ArithmeticError("no")

        Failing().allocate(8)
        gc.collect()
        assert (
            "Warning: mr.deallocate() failed during Buffer destruction: no"
            in capfd.readouterr().err
        )

    def test_a_pending_exception_is_preserved(self):
        resource = RecordingResource()

        def failing():
            buffer = resource.allocate(8)
            raise KeyError(buffer.size)

        with pytest.raises(KeyError):
            failing()
        gc.collect()
        assert len(resource.freed) == 1

    def test_with_closes(self, device, stream):
        with device.allocate(8, stream=stream) as buffer:
            pass
        assert buffer.is_closed

    def test_a_resource_may_be_closed_before_its_buffers(self, device, stream):
        resource = DeviceMemoryResource(device, {})
        buffer = resource.allocate(256, stream=stream)
        resource.close()
        assert resource.is_closed
        result = np.zeros(256, np.uint8)
        buffer.fill(7, stream=stream)
        buffer.copy_to(result, stream=stream)
        stream.sync()
        assert (result == 7).all()
        buffer.close()
        stream.sync()

    @pytest.mark.parametrize(
        "use",
        [
            lambda b, s: b.device_id,
            lambda b, s: b.is_device_accessible,
            lambda b, s: b.is_host_accessible,
            lambda b, s: b.is_managed,
            lambda b, s: b.__dlpack__(),
            lambda b, s: b.__dlpack_device__(),
            lambda b, s: b.fill(1, stream=s),
            lambda b, s: b.copy_to(stream=s),
            lambda b, s: b.copy_from(b, stream=s),
            lambda b, s: b.set_deallocation_stream(s),
        ],
    )
    def test_use_after_close_is_refused(self, device, stream, use):
        buffer = device.allocate(8, stream=stream)
        buffer.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            use(buffer, stream)

    def test_set_deallocation_stream_refuses_none(self, device, stream):
        with device.allocate(8, stream=stream) as buffer, pytest.raises(TypeError):
            buffer.set_deallocation_stream(None)


class TestDescription:
    def test_device_memory(self, device, stream):
        with device.allocate(1024, stream=stream) as buffer:
            assert buffer.device_id == 0
            assert (buffer.is_device_accessible, buffer.is_host_accessible) == (True, False)
            assert (buffer.is_managed, buffer.is_mapped) == (False, False)
            assert buffer.memory_resource is device.memory_resource
            assert repr(buffer) == f"<Buffer ptr={buffer.handle:#x} size=1024>"
            assert buffer.__dlpack_device__() == (2, 0)

    def test_a_view_queries_the_driver_about_its_pointer(self, device, stream, pinned):
        with device.allocate(64, stream=stream) as memory:
            view = Buffer.from_handle(memory.handle, 64)
            assert (view.is_device_accessible, view.is_host_accessible) == (True, False)
            assert view.device_id == 0
        with pinned.allocate(64) as memory:
            view = Buffer.from_handle(memory.handle, 64)
            assert (view.is_device_accessible, view.is_host_accessible) == (True, True)
            assert view.__dlpack_device__() == (3, 0)
        block = ctypes.create_string_buffer(64)
        view = Buffer.from_handle(ctypes.addressof(block), 64)
        assert (view.is_device_accessible, view.is_host_accessible) == (False, True)
        assert view.device_id == -1
        assert view.__dlpack_device__() == (1, 0)

    def test_equality_and_hash_are_by_address_and_size(self):
        a, b, c = (Buffer.from_handle(0x10, n) for n in (8, 8, 16))
        assert a == b and hash(a) == hash(b)
        assert a != c and a != 0x10
        a.close()
        c.close()
        assert a != b and a != c and a == a

    def test_a_closed_buffer_keeps_its_hash_and_equals_only_itself(self, pinned):
        buffer = pinned.allocate(24)
        table = {buffer: "value"}
        buffer.close()
        assert table[buffer] == "value"
        with Buffer.from_handle(0, 0) as empty:
            assert buffer != empty and empty not in table

    def test_weak_references_work(self):
        buffer = Buffer.from_handle(0x10, 8)
        reference = weakref.ref(buffer)
        assert reference() is buffer
        del buffer
        assert reference() is None

    def test_ipc_requires_an_ipc_resource(self, device, stream):
        with device.allocate(8, stream=stream) as buffer:
            with pytest.raises(RuntimeError, match="Memory resource is not IPC-enabled"):
                _ = buffer.ipc_descriptor


class TestCopies:
    def test_a_round_trip_through_the_device(self, device, stream, pinned):
        with pinned.allocate(4000) as source, pinned.allocate(4000) as target:
            as_array(source, np.float32)[:] = np.arange(1000)
            with device.allocate(4000, stream=stream) as memory:
                assert source.copy_to(memory, stream=stream) is memory
                target.copy_from(memory, stream=stream)
                stream.sync()
            assert np.array_equal(as_array(target), as_array(source))

    def test_copy_to_without_a_target_allocates_from_the_same_resource(self, device, stream):
        with device.allocate(64, stream=stream) as memory, memory.copy_to(stream=stream) as copy:
            assert copy.size == 64
            assert copy.memory_resource is memory.memory_resource

    def test_copy_to_without_a_target_requires_a_resource(self, stream):
        view = Buffer.from_handle(0x10, 8)
        with pytest.raises(ValueError, match="destination"):
            view.copy_to(stream=stream)

    def test_sizes_must_be_equal(self, device, stream):
        text = r"buffer sizes mismatch between src and dst \(sizes are: src=64, dst=32\)"
        with device.allocate(64, stream=stream) as a, device.allocate(32, stream=stream) as b:
            with pytest.raises(ValueError, match=text):
                a.copy_to(b, stream=stream)
            with pytest.raises(ValueError, match=text):
                b.copy_from(a, stream=stream)

    def test_host_arrays_are_accepted(self, device, stream):
        source = np.arange(100, dtype=np.int32)
        target = np.zeros_like(source)
        with device.allocate(source.nbytes, stream=stream) as memory:
            memory.copy_from(source, stream=stream)
            memory.copy_to(target, stream=stream)
            stream.sync()
        assert np.array_equal(source, target)

    @pytest.mark.parametrize(
        "wait", [lambda s: s.sync(), lambda s: s.record().sync(), lambda s: s.device.sync()]
    )
    def test_a_page_locked_array_is_released_when_its_copy_has_completed(
        self, device, stream, pinned, wait
    ):
        with device.allocate(16, stream=stream) as memory, pinned.allocate(16) as host:
            array = np.frombuffer(memoryview(host), np.uint8)
            alive = weakref.ref(array)
            memory.copy_from(array, stream=stream)
            wait(stream)
            del array
            assert alive() is None

    def test_a_captured_copy_of_a_page_locked_array_does_not_affect_later_copies(
        self, device, stream, pinned
    ):
        """The driver refuses queries of an event that was recorded in a capture."""
        from cuda.bindings import driver

        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        captured = device.create_stream()
        with device.allocate(16, stream=stream) as memory, pinned.allocate(16) as host:
            array = np.frombuffer(memoryview(host), np.uint8)
            alive = weakref.ref(array)
            assert driver.cuStreamBeginCapture(captured.handle, mode)[0] == 0
            memory.copy_from(array, stream=captured)
            memory.copy_from(np.arange(16, dtype=np.uint8), stream=stream)
            code, graph = driver.cuStreamEndCapture(captured.handle)
            assert code == 0
            memory.copy_to(array, stream=stream)
            stream.sync()
            assert list(array) == list(range(16))
            del array
            gc.collect()
            assert alive() is not None, "the graph copies from it"
            assert driver.cuGraphDestroy(graph)[0] == 0
            assert comes_true(lambda: alive() is None), "the graph is gone, and the array stays"
        captured.close()

    def test_a_page_locked_buffer_can_be_closed_after_a_copy_through_a_view(
        self, device, stream, pinned
    ):
        from cuda.bindings import driver

        host = pinned.allocate(16)
        with device.allocate(16, stream=stream) as memory:
            memory.copy_from(memoryview(host), stream=stream)
            driver.cuStreamSynchronize(int(stream.handle))
            host.close()

    def test_bytes_are_not_copied_into_a_copy_made_by_the_exporter(self, device, stream):
        class Copying:
            def __init__(self, array):
                self.array = array

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

            def __dlpack__(self, **keywords):
                return self.array.__dlpack__(**{**keywords, "copy": True})

        with device.allocate(8, stream=stream) as memory:
            memory.copy_from(Copying(np.arange(8, dtype=np.uint8)), stream=stream)
            with pytest.raises(BufferError, match="export is a copy"):
                memory.copy_to(Copying(np.zeros(8, np.uint8)), stream=stream)

    def test_a_read_only_export_is_refused_as_target(self, device, stream):
        frozen = np.zeros(8, np.uint8)
        frozen.flags.writeable = False

        class Frozen:
            def __dlpack_device__(self):
                return frozen.__dlpack_device__()

            def __dlpack__(self, **keywords):
                return frozen.__dlpack__(**keywords)

        with device.allocate(8, stream=stream) as memory:
            memory.copy_from(Frozen(), stream=stream)
            with pytest.raises(BufferError, match="read-only"):
                memory.copy_to(Frozen(), stream=stream)

    def test_a_read_only_target_is_refused(self, device, stream):
        with device.allocate(4, stream=stream) as memory, pytest.raises(BufferError):
            memory.copy_to(b"abcd", stream=stream)

    def test_a_device_array_with_a_buffer_protocol_is_copied_on_the_device(self, device, stream):
        class DeviceArray(bytearray):
            pass

        with (
            device.allocate(16, stream=stream) as source,
            device.allocate(16, stream=stream) as target,
        ):
            source.fill(7, stream=stream)
            array = DeviceArray(16)
            array.__cuda_array_interface__ = source.__cuda_array_interface__
            target.copy_from(array, stream=stream)
            result = np.zeros(16, np.uint8)
            target.copy_to(result, stream=stream)
            stream.sync()
            assert (result == 7).all()

    def test_a_strided_array_is_refused(self, device, stream):
        with device.allocate(20, stream=stream) as memory, pytest.raises(ValueError):
            memory.copy_from(np.arange(10, dtype=np.int32)[::2], stream=stream)

    def test_a_smaller_array_is_copied_to_the_start(self, device, stream):
        result = np.zeros(20, np.uint8)
        with device.allocate(20, stream=stream) as memory:
            memory.fill(9, stream=stream)
            memory.copy_from(np.arange(3, dtype=np.int32), stream=stream)
            memory.copy_from(np.empty(0, np.uint8), stream=stream)
            memory.copy_to(result, stream=stream)
            stream.sync()
        assert result[:12].view(np.int32).tolist() == [0, 1, 2]
        assert result[12:].tolist() == [9] * 8

    def test_a_larger_array_is_refused(self, device, stream):
        text = r"sizes mismatch between src and dst \(sizes are: src=40, dst=20\)"
        with device.allocate(20, stream=stream) as memory, pytest.raises(ValueError, match=text):
            memory.copy_from(np.arange(10, dtype=np.int32), stream=stream)

    def test_a_smaller_array_is_no_target(self, device, stream):
        text = r"sizes mismatch between src and dst \(sizes are: src=20, dst=12\)"
        with device.allocate(20, stream=stream) as memory, pytest.raises(ValueError, match=text):
            memory.copy_to(np.zeros(3, dtype=np.int32), stream=stream)

    def test_other_objects_are_refused(self, device, stream):
        with device.allocate(20, stream=stream) as memory, pytest.raises(TypeError):
            memory.copy_from(3, stream=stream)

    def test_none_is_refused_as_stream(self, device, stream):
        with device.allocate(20, stream=stream) as memory:
            with pytest.raises(TypeError, match="stream is required and must not be None"):
                memory.fill(0, stream=None)

    def test_a_positional_stream_is_a_deprecated_spelling_that_works(self, device, stream):
        result = np.zeros(20, np.uint8)
        with device.allocate(20, stream=stream) as memory:
            memory.fill(7, stream)
            memory.copy_to(result, stream=stream)
            stream.sync()
        assert (result == 7).all()


class TestFill:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (7, bytes([7] * 8)),
            (True, bytes([1] * 8)),
            (b"\x05", bytes([5] * 8)),
            (b"\x01\x02", b"\x01\x02" * 4),
            (np.int8(-1), b"\xff" * 8),
            (np.float32(1.5), np.full(2, 1.5, np.float32).tobytes()),
            (np.int16(258), np.full(4, 258, np.int16).tobytes()),
        ],
    )
    def test_numpy_scalars_are_filled_by_their_bits(self, device, stream, pinned, value, expected):
        with pinned.allocate(8) as buffer:
            buffer.fill(value, stream=stream)
            stream.sync()
            assert as_array(buffer).tobytes() == expected

    @pytest.mark.parametrize(
        ("size", "value", "error", "text"),
        [
            (8, 256, OverflowError, "an int from 0 to 255"),
            (8, -1, OverflowError, "an int from 0 to 255"),
            pytest.param(
                8, 10**5000, OverflowError, "an int of more than 64 bits", id="5,001 digits"
            ),
            (8, b"", ValueError, "value must be 1, 2, or 4 bytes, got 0"),
            (8, np.int64(1), ValueError, "value must be 1, 2, or 4 bytes, got 8"),
            (7, b"ab", ValueError, r"buffer size \(7\) must be divisible by 2"),
            (6, b"abcd", ValueError, r"buffer size \(6\) must be divisible by 4"),
            (8, "a", TypeError, "value must be an int"),
            (8, 1.5, TypeError, "value must be an int"),
        ],
    )
    def test_other_widths_are_refused(self, device, stream, size, value, error, text):
        with device.allocate(size, stream=stream) as buffer, pytest.raises(error, match=text):
            buffer.fill(value, stream=stream)

    def test_zero_bytes_are_checked_and_not_filled(self, device, stream):
        with device.allocate(0, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
            assert not buffer.is_closed


class TestExports:
    def test_numpy_reads_pinned_memory_through_dlpack(self, pinned):
        with pinned.allocate(16) as buffer:
            array = np.from_dlpack(buffer)
            assert array.dtype == np.int8 and array.shape == (16,)
            assert array.ctypes.data == buffer.handle

    @pytest.mark.parametrize(
        ("max_version", "name"),
        [
            (None, "dltensor"),
            ((0, 8), "dltensor"),
            ((1, 0), "dltensor_versioned"),
            ((2, 0), "dltensor_versioned"),
        ],
    )
    def test_capsule_names_follow_the_version(self, pinned, max_version, name):
        with pinned.allocate(16) as buffer:
            assert f'"{name}"' in repr(buffer.__dlpack__(max_version=max_version))

    @pytest.mark.parametrize(
        ("keywords", "error"),
        [
            ({"max_version": 1}, TypeError),
            ({"max_version": (1,)}, BufferError),
            ({"max_version": ("1", 0)}, TypeError),
            ({"dl_device": (2, 5)}, BufferError),
            ({"copy": True}, BufferError),
        ],
    )
    def test_requests_that_cannot_be_met_retain_nothing(self, pinned, keywords, error):
        with pinned.allocate(16) as buffer:
            before = sys.getrefcount(buffer)
            with pytest.raises(error):
                buffer.__dlpack__(**keywords)
            assert sys.getrefcount(buffer) == before

    @pytest.mark.parametrize("max_version", [None, (1, 0)], ids=["plain", "versioned"])
    def test_a_capsule_has_extent_and_stride(self, pinned, max_version):
        """Missing strides mean a dense tensor, but not every consumer knows that."""
        with pinned.allocate(16) as buffer:
            capsule = buffer.__dlpack__(max_version=max_version)
            content = content_of(capsule)
            assert (content.data, content.byte_offset) == (buffer.handle, 0)
            assert (content.ndim, content.shape[0], content.strides[0]) == (1, 16, 1)
            assert (content.device_type, content.code, content.bits, content.lanes) == (3, 0, 8, 1)
            del content, capsule

    def test_an_unused_capsule_releases_the_buffer(self, pinned):
        with pinned.allocate(16) as buffer:
            before = sys.getrefcount(buffer)
            capsule = buffer.__dlpack__(max_version=(1, 0))
            assert sys.getrefcount(buffer) == before + 1
            del capsule
            assert sys.getrefcount(buffer) == before

    def test_host_memory_has_the_buffer_protocol(self, pinned):
        with pinned.allocate(16) as buffer:
            view = memoryview(buffer)
            view[0] = 5
            assert as_array(buffer)[0] == 5
            with pytest.raises(BufferError, match="existing exports"):
                buffer.close()
            view.release()

    def test_device_memory_has_no_buffer_protocol(self, device, stream):
        with device.allocate(16, stream=stream) as buffer, pytest.raises(BufferError):
            memoryview(buffer)

    def test_only_device_memory_has_the_cuda_array_interface(self, device, stream):
        with device.allocate(16, stream=stream) as buffer:
            interface = buffer.__cuda_array_interface__
            assert interface["data"] == (buffer.handle, False)
            assert (interface["shape"], interface["typestr"], interface["version"]) == (
                (16,),
                "|i1",
                3,
            )
        block = ctypes.create_string_buffer(8)
        assert not hasattr(
            Buffer.from_handle(ctypes.addressof(block), 8), "__cuda_array_interface__"
        )
