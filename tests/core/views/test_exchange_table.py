# SPDX-License-Identifier: Apache-2.0
"""DLPack's table of C functions: the table of views, and tables of other libraries."""

import ctypes
import gc
import sys

import numpy as np
import pytest
from cuda.core import CUDAError
from cuda.core.utils import StridedMemoryView

from .capsules import Producer, Tensor, Versioned, capsule_pointer, new_capsule

NAME = b"dlpack_exchange_api"
EXPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
IMPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
BORROW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
STREAM = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATE = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ERROR
)


class Table(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("export", EXPORT),
        ("take", IMPORT),
        ("borrow", BORROW),
        ("stream", STREAM),
    )


@pytest.fixture
def table():
    capsule = StridedMemoryView.__dlpack_c_exchange_api__
    return Table.from_address(capsule_pointer(capsule, NAME))


def view_of(array):
    return StridedMemoryView.from_dlpack(array, stream_ptr=-1)


class TestOurTable:
    def test_it_exists_under_both_names(self, table):
        cls = StridedMemoryView
        assert cls.__c_dlpack_exchange_api__ is cls.__dlpack_c_exchange_api__
        assert (table.major, table.previous) == (1, None)

    def test_a_tensor_is_exported_and_imported_again(self, table):
        array = np.arange(12.0).reshape(3, 4)[:, ::2]
        view = view_of(array)
        out, back = ctypes.c_void_p(), ctypes.c_void_p()
        references = sys.getrefcount(view)
        assert table.export(id(view), out) == 0
        assert sys.getrefcount(view) == references + 1
        assert table.take(out.value, back) == 0
        imported = ctypes.cast(back, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(imported))
        assert np.array_equal(np.from_dlpack(imported), array)
        del imported
        gc.collect()
        assert sys.getrefcount(view) == references

    def test_a_borrowed_tensor_has_the_values_of_the_view(self, table):
        array = np.zeros((2, 3, 4), np.int16)
        view = StridedMemoryView.from_array_interface(array)
        assert view.strides is None
        tensor = Tensor()
        assert table.borrow(id(view), tensor) == 0
        assert tensor.data == array.ctypes.data
        assert (tensor.device_type, tensor.ndim, tensor.code, tensor.bits) == (1, 3, 0, 16)
        assert tensor.shape[:3] == [2, 3, 4]
        assert tensor.strides[:3] == [12, 4, 1]
        assert view.strides is None

    def test_views_have_no_stream(self, table):
        out = ctypes.c_void_p(5)
        assert table.stream(2, 0, out) == 0
        assert out.value is None

    def test_allocation_is_refused_with_a_message(self, table):
        messages = []
        out = ctypes.c_void_p(5)
        report = ERROR(lambda context, kind, text: messages.append((kind, text)))
        assert table.allocate(None, out, None, report) == -1
        assert messages == [(b"NotImplementedError", b"StridedMemoryView allocates no memory")]
        assert out.value is None

    def test_invalid_objects_are_refused_without_output(self, table):
        out = ctypes.c_void_p(5)
        other = object()
        with pytest.raises(TypeError, match="must be a StridedMemoryView, got object"):
            table.export(id(other), out)
        assert out.value is None
        with pytest.raises(TypeError, match="must be a StridedMemoryView"):
            table.borrow(id(other), Tensor())

    def test_null_is_refused(self, table):
        view = view_of(np.zeros(3))
        for call in (
            lambda: table.export(None, ctypes.c_void_p()),
            lambda: table.export(id(view), None),
            lambda: table.take(None, ctypes.c_void_p()),
            lambda: table.take(None, None),
            lambda: table.borrow(None, Tensor()),
            lambda: table.borrow(id(view), None),
            lambda: table.stream(2, 0, None),
        ):
            with pytest.raises(RuntimeError, match="cannot be NULL"):
                call()

    def test_a_refused_tensor_still_belongs_to_the_caller(self, table):
        producer = Producer(ndim=-1)
        out = ctypes.c_void_p(5)
        with pytest.raises(BufferError):
            table.take(ctypes.addressof(producer.managed), out)
        gc.collect()
        assert producer.deleted == 0
        assert out.value is None


def library(device=(1, 0), stream=None, fails=False, major=1, newer=False, is_empty=False):
    """Return an array class of another library that has a table, and the calls of the table."""
    calls = []

    def export(pointer, out):
        array = ctypes.cast(pointer, ctypes.py_object).value
        calls.append("export")
        if fails:
            raise RuntimeError("not this one")
        if is_empty:
            return 0
        ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(
            array.producer.managed
        )
        return 0

    def current_stream(kind, ordinal, out):
        calls.append(("stream", kind, ordinal))
        out[0] = stream
        return 0

    table = Table(
        major, 0, None, ALLOCATE(), EXPORT(export), IMPORT(), BORROW(), STREAM(current_stream)
    )
    current = Table(9, 0, ctypes.addressof(table)) if newer else table

    class Array:
        __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(current), NAME, None)
        tables = (table, current)

        def __init__(self):
            self.producer = Producer(device)

    return Array, calls


class TestForeignTables:
    def test_it_is_used_instead_of_the_protocol(self):
        cls, calls = library()
        array = cls()
        view = view_of(array)
        assert calls == ["export"]
        assert view.exporting_obj is array
        assert np.array_equal(np.from_dlpack(view), array.producer.array)
        del view
        assert array.producer.deleted == 1

    def test_the_newest_supported_version_is_used(self):
        """A later major version refers to the tables of older ones."""
        cls, calls = library(major=1, newer=True)
        assert view_of(cls()).shape == (3, 4)
        assert calls == ["export"]
        cls, calls = library(major=2)
        with pytest.raises(BufferError, match="any data exchange protocol"):
            view_of(cls())
        assert calls == []

    def test_no_tensor_is_an_error(self):
        cls, _ = library(is_empty=True)
        with pytest.raises(BufferError, match="exchange table of .*Array returned no tensor"):
            view_of(cls())

    def test_device_memory_requires_a_stream_query(self):
        cls, calls = library((2, 0))
        with pytest.raises(BufferError, match="ambiguous"):
            StridedMemoryView.from_dlpack(cls())
        assert view_of(cls()).device_id == 0
        assert ("stream", 2, 0) not in calls

    def test_the_consumer_waits_for_the_stream_of_the_producer(self, stream, emulation):
        with stream.device.create_stream() as producing:
            cls, calls = library((2, 0), stream=int(producing.handle))
            with emulation.inject("cuStreamWaitEvent", error="CUDA_ERROR_UNKNOWN"):
                with pytest.raises(CUDAError, match="cuStreamWaitEvent"):
                    StridedMemoryView.from_dlpack(cls(), stream_ptr=stream)
            assert ("stream", 2, 0) in calls
            with emulation.inject("cuStreamWaitEvent", optional=True) as waiting:
                StridedMemoryView.from_dlpack(cls(), stream_ptr=producing)
            assert waiting.hits == 0

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_its_errors_propagate(self):
        cls, _ = library(fails=True)
        with pytest.raises((BufferError, RuntimeError)):
            view_of(cls())

    def test_an_invalid_tensor_is_released(self):
        cls, _ = library()
        array = cls()
        array.producer.managed.content.ndim = -1
        with pytest.raises(BufferError, match="has -1 axes"):
            view_of(array)
        gc.collect()
        assert array.producer.deleted == 1


def test_versioned_tensors_have_the_layout_of_the_header():
    assert ctypes.sizeof(Versioned) == 80
