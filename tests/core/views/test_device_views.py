# SPDX-License-Identifier: Apache-2.0
"""Views of memory that a device can access: Buffers, array interfaces, streams, launches."""

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from cuda.core import (
    Buffer,
    CUDAError,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
    launch,
)
from cuda.core._layout import _StridedLayout as Layout
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

from .capsules import content_of
from .test_exchange_table import library


class DeviceArray:
    """An array of another library, with an interface."""

    def __init__(self, buffer, **changes):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": (2, 4),
            "typestr": "<f4",
            "data": (int(buffer.handle), False),
            "version": 3,
            "stream": None,
            **changes,
        }


@pytest.fixture
def buffer(device, stream):
    with device.allocate(64, stream=stream) as buffer:
        yield buffer


class TestBuffers:
    def test_a_consumer_on_another_stream_waits(self, device, buffer, stream, emulation):
        with emulation.inject("cuStreamWaitEvent", optional=True) as waiting:
            buffer.__dlpack__(stream=int(stream.handle))
            buffer.__dlpack__(stream=-1)
        assert waiting.hits == 0
        with device.create_stream() as consumer, pytest.raises(CUDAError):
            with emulation.inject("cuStreamWaitEvent"):
                buffer.__dlpack__(stream=int(consumer.handle))

    def test_dlpack_shows_the_bytes(self, buffer):
        view = StridedMemoryView.from_dlpack(buffer, -1)
        assert (view.ptr, view.shape, view.strides) == (int(buffer.handle), (64,), (1,))
        assert view.dtype == np.int8
        assert view.__dlpack_device__() == (2, 0)
        assert view.device_id == 0
        assert view.is_device_accessible
        assert view.exporting_obj is buffer

    def test_only_device_memory_requires_a_stream(self, buffer, stream):
        with pytest.raises(BufferError, match="ambiguous"):
            StridedMemoryView.from_dlpack(buffer)
        for stream_arg in (stream, stream.handle, int(stream.handle), 0, -1):
            assert StridedMemoryView.from_dlpack(buffer, stream_arg).size == 64
        with LegacyPinnedMemoryResource().allocate(8) as pinned:
            view = StridedMemoryView.from_dlpack(pinned)
            assert view.__dlpack_device__() == (3, 0)
            assert np.asarray(view).shape == (8,)

    def test_the_consumer_waits_for_the_stream_of_the_allocation(self, buffer, device, emulation):
        with device.create_stream() as consumer:
            with emulation.inject("cuStreamWaitEvent", error="CUDA_ERROR_UNKNOWN"):
                with pytest.raises(CUDAError, match="cuStreamWaitEvent"):
                    StridedMemoryView.from_dlpack(buffer, consumer)
                StridedMemoryView.from_dlpack(buffer, -1)

    def test_a_closed_stream_is_refused(self, buffer, device):
        closed = device.create_stream()
        closed.close()
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            StridedMemoryView.from_dlpack(buffer, closed)

    def test_layout_and_type_can_describe_a_part(self, buffer):
        view = StridedMemoryView.from_buffer(buffer, (2, 3), (8, 1), dtype="f4", is_readonly=True)
        assert (view.shape, view.strides, view.itemsize) == ((2, 3), (8, 1), 4)
        assert view.dtype == np.float32
        assert view.readonly
        assert view.exporting_obj is buffer
        plain = StridedMemoryView.from_buffer(buffer, (5,), itemsize=12)
        assert (plain.dtype, plain.strides, plain.readonly) == (None, None, False)

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            ({"shape": (4,)}, ValueError, "Either itemsize or dtype must be specified"),
            ({"shape": (4,), "itemsize": 4, "dtype": "f8"}, ValueError, "does not match dtype"),
            ({"shape": (17,), "itemsize": 4}, ValueError, "Expected at least 68 bytes, got 64"),
            ({"shape": (2,), "strides": (16,), "itemsize": 4}, ValueError, "at least 68 bytes"),
            ({"shape": (4,), "strides": (-1,), "itemsize": 4}, ValueError, "before its beginning"),
            ({"shape": (2**62, 4), "itemsize": 1}, OverflowError, "64 bits"),
            ({"shape": (2**61,), "itemsize": 8}, OverflowError, "64 bits"),
            ({"shape": 4, "itemsize": 4}, TypeError, "expected tuple"),
            ({"shape": (4,), "itemsize": 0}, ValueError, "itemsize must be positive"),
            ({"shape": (4,), "dtype": "nothing"}, TypeError, "nothing"),
        ],
    )
    def test_a_description_that_does_not_fit_is_refused(self, buffer, arguments, error, text):
        with pytest.raises(error, match=text):
            StridedMemoryView.from_buffer(buffer, **arguments)

    def test_other_layouts_must_fit_the_buffer_too(self, buffer):
        view = StridedMemoryView.from_buffer(buffer, (4,), itemsize=4)
        with pytest.raises(ValueError, match="Expected at least 400 bytes, got 64"):
            view.view(Layout((100,), None, 4))
        assert view.view(Layout((16,), None, 4))[12:].ptr == view.ptr + 48

    def test_external_memory_has_no_size_check(self, buffer):
        external = Buffer.from_handle(int(buffer.handle), 8, owner=buffer)
        assert StridedMemoryView.from_buffer(external, (100,), itemsize=4).size == 100

    def test_only_buffers_are_accepted(self):
        with pytest.raises(TypeError, match="buffer must be a Buffer, got int"):
            StridedMemoryView.from_buffer(3, (4,), itemsize=4)

    def test_a_view_retains_its_buffer(self, device, stream):
        buffer = device.allocate(64, stream=stream)
        alive = weakref.ref(buffer)
        view = StridedMemoryView.from_buffer(buffer, (4,), itemsize=4)[1:]
        del buffer
        gc.collect()
        assert alive() is not None
        del view
        assert alive() is None

    def test_a_view_of_a_closed_buffer_still_describes_itself(self, device, stream):
        buffer = device.allocate(64, stream=stream)
        view = StridedMemoryView.from_buffer(buffer, (4,), dtype="f4")
        buffer.close()
        assert view.shape == (4,)
        for use in (
            lambda: view[1:],
            lambda: view.__dlpack__(),
            lambda: view.__cuda_array_interface__,
            lambda: StridedMemoryView.from_dlpack(view, -1),
            lambda: StridedMemoryView.from_dlpack(buffer, -1),
            lambda: StridedMemoryView.from_buffer(buffer, (4,), itemsize=4),
        ):
            with pytest.raises(RuntimeError, match="Buffer has been closed"):
                use()

    def test_a_size_that_closes_the_buffer_is_detected(self, device, stream):
        buffer = device.allocate(64, stream=stream)

        class Closing:
            def __index__(self):
                buffer.close()
                return 4

        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            StridedMemoryView.from_buffer(buffer, (Closing(),), itemsize=4)

    def test_a_resource_that_closes_the_buffer_is_detected(self, pinned_block):
        class Closing(MemoryResource):
            """Closes the buffer when the kind of its memory is queried."""

            is_host_accessible, device_id = True, -1

            @property
            def is_device_accessible(self):
                if hasattr(self, "buffer"):
                    self.buffer.close()
                return True

            def deallocate(self, ptr, size, *, stream):
                pass

        for make in (
            lambda buffer: StridedMemoryView.from_dlpack(buffer, -1),
            lambda buffer: StridedMemoryView.from_buffer(buffer, (4,), itemsize=4),
        ):
            resource = Closing()
            buffer = Buffer.from_handle(int(pinned_block.handle), 64, mr=resource)
            resource.buffer = buffer
            with pytest.raises(RuntimeError, match="Buffer has been closed"):
                make(buffer)
            del resource.buffer

    def test_a_stream_that_closes_the_buffer_is_detected(self, device, stream):
        buffer = device.allocate(64, stream=stream)

        class Closing:
            def __index__(self):
                buffer.close()
                return -1

        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            StridedMemoryView.from_dlpack(buffer, Closing())


class TestCudaArrayInterface:
    def test_it_reports_the_location_of_the_array(self, buffer):
        array = DeviceArray(buffer)
        view = StridedMemoryView.from_cuda_array_interface(array, -1)
        assert (view.ptr, view.shape, view.strides) == (int(buffer.handle), (2, 4), None)
        assert view.dtype == np.float32
        assert (view.device_id, view.is_device_accessible, view.readonly) == (0, True, False)
        assert view.exporting_obj is array
        assert view.__dlpack_device__() == (2, 0)

    def test_strides_are_bytes(self, buffer):
        for strides, expected in (((16, 8), (4, 2)), ((0, 4), (0, 1)), ((-16, -4), (-4, -1))):
            array = DeviceArray(buffer, strides=strides)
            assert StridedMemoryView.from_cuda_array_interface(array, -1).strides == expected

    @pytest.mark.parametrize(
        ("changes", "stream_arg", "error", "text"),
        [
            ({"version": 2}, None, BufferError, "v3 or above"),
            ({"mask": 3}, None, BufferError, "mask is not supported"),
            ({"strides": (6, 4)}, None, BufferError, "ambiguous"),
            ({"strides": (6, 4)}, -1, ValueError, "must be divisible by itemsize"),
            ({"stream": 0}, 2, BufferError, "names stream 0"),
        ],
    )
    def test_refusals_are_checked_in_this_order(self, buffer, changes, stream_arg, error, text):
        with pytest.raises(error, match=text):
            StridedMemoryView.from_cuda_array_interface(DeviceArray(buffer, **changes), stream_arg)

    def test_host_memory_is_refused_as_device_memory(self, buffer):
        memory = np.zeros(8, np.float32)
        array = DeviceArray(buffer, data=(memory.ctypes.data, False))
        with pytest.raises(BufferError, match="neither device memory nor known to the driver"):
            StridedMemoryView.from_cuda_array_interface(array, -1)

    def test_a_null_pointer_belongs_to_the_current_device(self, buffer):
        array = DeviceArray(buffer, shape=(0,), data=(0, True))
        view = StridedMemoryView.from_cuda_array_interface(array, -1)
        assert (view.ptr, view.device_id, view.readonly) == (0, 0, True)

    def test_the_consumer_waits_for_the_exported_stream(self, buffer, device, emulation):
        with device.create_stream() as consumer, device.create_stream() as producer:
            array = DeviceArray(buffer, stream=int(producer.handle))
            with emulation.inject("cuStreamWaitEvent", error="CUDA_ERROR_UNKNOWN"):
                with pytest.raises(CUDAError, match="cuStreamWaitEvent"):
                    StridedMemoryView.from_cuda_array_interface(array, consumer)
                StridedMemoryView.from_cuda_array_interface(array, producer)
                StridedMemoryView.from_cuda_array_interface(array, -1)
                default = DeviceArray(buffer, stream=1)
                StridedMemoryView.from_cuda_array_interface(default, 0)

    def test_it_is_found_without_dlpack(self, buffer):
        array = DeviceArray(buffer)
        view = StridedMemoryView.from_any_interface(array, -1)
        assert (view.ptr, view.exporting_obj) == (int(buffer.handle), array)

    def test_a_type_without_a_text_is_exported(self, buffer):
        for dtype, text in (("f4", "<f4"), ("M8[s]", "<M8[s]"), ("u1", "|u1"), (">i2", ">i2")):
            view = StridedMemoryView.from_buffer(buffer, (2,), dtype=dtype)
            assert view.__cuda_array_interface__["typestr"] == text

    @pytest.mark.parametrize("text", ["i1 i2 i4 i8", "u1 u2 u4 u8", "f2 f4 f8", "c8 c16", "b1"])
    def test_its_types_are_those_of_dlpack(self, buffer, text):
        code = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[text[0]]  # DLDataTypeCode of dlpack.h
        for typestr in text.split():
            array = DeviceArray(buffer, typestr=f"<{typestr}", shape=(2,))
            tensor = content_of(
                StridedMemoryView.from_cuda_array_interface(array, -1).__dlpack__(stream=-1)
            )
            assert (tensor.code, tensor.bits, tensor.lanes) == (code, 8 * int(typestr[1:]), 1)

    @pytest.mark.parametrize(
        "typestr", ["<i3", "<u16", "<f1", "<f16", "<c4", "<b2", ">i2", "<M8[s]"]
    )
    def test_other_types_are_not_exported_by_dlpack(self, buffer, typestr):
        array = DeviceArray(buffer, typestr=typestr, shape=(1,))
        view = StridedMemoryView.from_cuda_array_interface(array, -1)
        with pytest.raises((BufferError, TypeError)):
            view.__dlpack__(stream=-1)

    def test_pinned_memory_is_distinguished_from_device_memory(self, device):
        with LegacyPinnedMemoryResource().allocate(32) as pinned:
            view = StridedMemoryView.from_cuda_array_interface(DeviceArray(pinned), -1)
            assert view.__dlpack_device__() == (3, 0)
            assert np.asarray(view).shape == (2, 4)

    def test_it_is_exported_again(self, buffer):
        array = DeviceArray(buffer, strides=(32, 8), data=(int(buffer.handle), True))
        view = StridedMemoryView.from_cuda_array_interface(array, -1)
        assert view.__cuda_array_interface__ == {
            "version": 3,
            "shape": (2, 4),
            "typestr": "<f4",
            "data": (int(buffer.handle), True),
            "strides": (32, 8),
            "stream": None,
        }
        assert not hasattr(view, "__array_interface__")
        second = StridedMemoryView.from_cuda_array_interface(view, -1)
        assert (second.strides, second.readonly) == ((8, 2), True)

    def test_host_arrays_have_no_interface(self):
        view = StridedMemoryView.from_dlpack(np.zeros(3), -1)
        assert not hasattr(view, "__cuda_array_interface__")


class TestLaunches:
    def test_a_view_is_passed_as_the_address_of_its_first_element(self, argument_in_kernel, buffer):
        view = StridedMemoryView.from_buffer(buffer, (4, 4), dtype="f4")
        assert int.from_bytes(argument_in_kernel(view, 8), "little") == view.ptr
        assert int.from_bytes(argument_in_kernel(view[2:], 8), "little") == view.ptr + 32

    def test_a_subclass_is_passed_too(self, argument_in_kernel, buffer):
        class Special(StridedMemoryView):
            pass

        view = Special.from_buffer(buffer, (4,), itemsize=4)
        assert int.from_bytes(argument_in_kernel(view, 8), "little") == view.ptr

    def test_a_view_of_host_memory_is_refused(self, stream, store):
        view = StridedMemoryView.from_dlpack(np.zeros(3), -1)
        with pytest.raises(TypeError, match="host memory"):
            launch(stream, LaunchConfig(grid=1, block=1), store, view, 3)

    def test_a_view_of_a_closed_buffer_is_refused(self, device, stream, store):
        buffer = device.allocate(64, stream=stream)
        view = StridedMemoryView.from_buffer(buffer, (4,), itemsize=4)[1:]
        buffer.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            launch(stream, LaunchConfig(grid=1, block=1), store, view, 3)


class TestArguments:
    def test_named_arguments_are_wrapped_in_proxies(self):
        @args_viewable_as_strided_memory((0, 2))
        def function(x, y, z, *, k):
            """Documented."""
            return x.view(-1).shape, y, z.view(stream_ptr=-1).shape, k, x.obj, x.has_dlpack

        first, last = np.zeros((2, 3)), np.zeros(4)
        shapes = function(first, 5, last, k=6)
        assert shapes[:4] == ((2, 3), 5, (4,), 6)
        assert shapes[4] is first
        assert shapes[5] is True
        assert (function.__name__, function.__doc__) == ("function", "Documented.")

    def test_the_array_interface_is_used_without_dlpack(self, buffer, stream):
        @args_viewable_as_strided_memory((0,))
        def function(x):
            return x.has_dlpack, x.view(stream).shape

        assert function(DeviceArray(buffer)) == (False, (2, 4))

    def test_other_types_are_refused_at_the_call(self):
        function = args_viewable_as_strided_memory((0,))(lambda x: x)
        with pytest.raises(BufferError, match="any data exchange protocol"):
            function(3)
        with pytest.raises(IndexError, match="pass it by position"):
            function()
        with pytest.raises(TypeError):
            args_viewable_as_strided_memory([0])


class TestTorch:
    """The tensors' attributes suffice; the package itself is not required."""

    @pytest.fixture
    def torch(self, monkeypatch, buffer):
        import sys
        import types

        module = types.ModuleType("torch")

        class Device:
            def __init__(self, kind):
                self.type, self.index = kind, 0 if kind == "cuda" else None

            def __repr__(self):
                return self.type

        class Tensor:
            def __init__(self, kind="cuda", dtype="torch.float32"):
                self.device, self.dtype, self.shape = Device(kind), dtype, (2, 3)
                self.memory = np.zeros(6, np.float32)

            def stride(self):
                return (1, 2)

            def element_size(self):
                return 4

            def data_ptr(self):
                return int(buffer.handle) if self.device.type == "cuda" else self.memory.ctypes.data

            def __dlpack__(self, **options):
                raise RuntimeError("it needs a gradient")

            def __dlpack_device__(self):
                return (2, 0)

        module.Tensor = Tensor
        module.cuda = types.SimpleNamespace(
            current_stream=lambda device: types.SimpleNamespace(cuda_stream=module.current)
        )
        module.current = 0
        monkeypatch.setitem(sys.modules, "torch", module)
        return module

    def test_a_host_tensor_has_no_streams(self, torch):
        tensor = torch.Tensor("cpu")
        view = StridedMemoryView.from_dlpack(tensor)
        assert (view.shape, view.strides, view.device_id) == ((2, 3), (1, 2), -1)
        assert view.dtype == np.float32
        assert view.exporting_obj is tensor
        assert not view.readonly

    def test_a_device_tensor_is_read_although_its_protocols_refuse(self, torch):
        tensor = torch.Tensor()
        for make in (
            StridedMemoryView.from_dlpack,
            StridedMemoryView.from_any_interface,
            StridedMemoryView.from_cuda_array_interface,
        ):
            assert make(tensor, -1).ptr == tensor.data_ptr()
            with pytest.raises(BufferError, match="ambiguous"):
                make(tensor)

    def test_the_consumer_waits_for_its_current_stream(self, torch, device, emulation):
        with device.create_stream() as consumer, device.create_stream() as current:
            torch.current = int(current.handle)
            with emulation.inject("cuStreamWaitEvent", error="CUDA_ERROR_UNKNOWN"):
                with pytest.raises(CUDAError, match="cuStreamWaitEvent"):
                    StridedMemoryView.from_dlpack(torch.Tensor(), consumer)
                StridedMemoryView.from_dlpack(torch.Tensor(), current)

    def test_the_exchange_table_of_the_class_comes_first(self, torch):
        torch.Tensor, calls = library()
        tensor = torch.Tensor()
        view = StridedMemoryView.from_dlpack(tensor, -1)
        assert (calls, view.exporting_obj) == (["export"], tensor)

    def test_a_table_that_fails_leaves_the_attributes(self, torch):
        """The table of views raises TypeError for other objects, as PyTorch's does for some."""
        torch.Tensor.__dlpack_c_exchange_api__ = StridedMemoryView.__dlpack_c_exchange_api__
        tensor = torch.Tensor("cpu")
        view = StridedMemoryView.from_dlpack(tensor, -1)
        assert (view.ptr, view.shape) == (tensor.data_ptr(), (2, 3))

    @pytest.mark.parametrize(
        "name",
        [
            *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
            *("float16", "float32", "float64", "complex64", "complex128", "bfloat16"),
            *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
            "float8_e8m0fnu",
        ],
    )
    def test_types_have_the_dtype_of_their_name(self, torch, name):
        tensor = torch.Tensor("cpu", f"torch.{name}")
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        tensor.element_size = lambda: dtype.itemsize
        assert StridedMemoryView.from_dlpack(tensor, -1).dtype == dtype

    def test_other_devices_are_refused(self, torch):
        with pytest.raises(BufferError, match="device not supported: torch's xpu"):
            StridedMemoryView.from_dlpack(torch.Tensor("xpu"), -1)

    def test_an_unknown_type_is_reported_on_access(self, torch):
        view = StridedMemoryView.from_dlpack(torch.Tensor(dtype="torch.quint8"), -1)
        assert view.itemsize == 4
        with pytest.raises(TypeError, match="have no dtype"):
            view.dtype  # noqa: B018
