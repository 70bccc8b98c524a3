# SPDX-License-Identifier: Apache-2.0
"""Tensors of other libraries: flags, versions, invalid values, and the single deleter call."""

import gc
import threading

import numpy as np
import pytest
from cuda.core.utils import StridedMemoryView
from cuda.core.views.device_types import DLDeviceType

from .capsules import Producer, capsule_pointer


def view_of(producer, stream=-1):
    return StridedMemoryView.from_dlpack(producer, stream_ptr=stream)


@pytest.mark.parametrize("is_versioned", [True, False])
class TestDeleter:
    def test_it_is_called_once_with_the_view(self, is_versioned):
        producer = Producer(is_versioned=is_versioned)
        view = view_of(producer)
        assert producer.deleted == 0
        part = view[1:]
        del view
        gc.collect()
        assert producer.deleted == 0
        del part
        assert producer.deleted == 1

    def test_it_is_called_once_if_the_tensor_is_refused(self, is_versioned):
        producer = Producer(is_versioned=is_versioned, ndim=-1)
        with pytest.raises(BufferError):
            view_of(producer)
        gc.collect()
        assert producer.deleted == 1

    def test_the_capsule_is_renamed_and_cannot_be_consumed_twice(self, is_versioned):
        class Stingy(Producer):
            def capsule(self):
                self.only = getattr(self, "only", None) or super().capsule()
                return self.only

        producer = Stingy(is_versioned=is_versioned)
        view = view_of(producer)
        name = b"used_dltensor_versioned" if is_versioned else b"used_dltensor"
        assert capsule_pointer(producer.only, name)
        with pytest.raises(BufferError, match="consumed before"):
            view_of(producer)
        assert producer.deleted == 0
        del view
        assert producer.deleted == 1

    def test_without_a_deleter_nothing_is_called(self, is_versioned):
        producer = Producer(is_versioned=is_versioned, deleter=type(Producer().deleter)())
        assert view_of(producer).shape == (3, 4)
        gc.collect()
        assert producer.deleted == 0

    def test_threads_that_drop_views_call_each_deleter_once(self, is_versioned):
        producers = [Producer(is_versioned=is_versioned) for _ in range(40)]
        views = [view_of(producer) for producer in producers]
        threads = [threading.Thread(target=views.pop) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
        assert [producer.deleted for producer in producers] == [1] * 40


class TestRequests:
    def test_the_newest_version_is_requested(self):
        producer = Producer()
        view_of(producer)
        assert producer.requests == [{"stream": None, "max_version": (1, 2)}]

    def test_an_exporter_without_versions_is_called_a_second_time(self):
        class Old(Producer):
            def __dlpack__(self, stream=None):
                self.requests.append(stream)
                return self.capsule()

        producer = Old(is_versioned=False)
        assert view_of(producer).shape == (3, 4)
        assert producer.requests == [None]

    @pytest.mark.parametrize(
        ("kind", "stream_arg", "passed"),
        [
            (1, -1, None),
            (1, 7, None),
            (2, -1, -1),
            (2, 0, None),
            (2, 7, 7),
            (3, None, None),
            (3, 7, 7),
            (13, -1, -1),
            (13, None, None),
        ],
    )
    def test_the_stream_is_passed_to_exporters_that_need_it(self, kind, stream_arg, passed):
        producer = Producer((kind, 0))
        view_of(producer, stream_arg)
        assert producer.requests[0]["stream"] == passed

    @pytest.mark.parametrize("kind", [1, 2])
    def test_none_is_ambiguous(self, kind):
        producer = Producer((kind, 0))
        with pytest.raises(BufferError, match="ambiguous"):
            view_of(producer, None)
        assert producer.requests == []

    def test_other_devices_are_refused_before_the_export(self):
        producer = Producer((10, 0))
        with pytest.raises(BufferError, match="device not supported"):
            view_of(producer)
        assert producer.requests == []

    @pytest.mark.parametrize(("kind", "device"), [(1, -1), (2, 3), (3, 3), (13, 3)])
    def test_the_device_is_the_exported_one(self, kind, device):
        view = view_of(Producer((kind, 3)))
        assert view.device_id == device
        assert view.is_device_accessible == (kind != 1)
        assert view.__dlpack_device__() == (kind, 3)


def test_kinds_of_devices_have_the_numbers_of_dlpack():
    """The numbers of dlpack.h."""
    numbers = {"kDLCPU": 1, "kDLCUDA": 2, "kDLCUDAHost": 3, "kDLCUDAManaged": 13}
    assert {member.name: member.value for member in DLDeviceType} == numbers


class TestFlags:
    def test_read_only_and_copied_are_reported(self):
        for flags in range(4):
            view = view_of(Producer(flags=flags))
            assert view.readonly == bool(flags & 1)
            assert view.is_copied == bool(flags & 2)
            assert view[1:].readonly == view.readonly

    def test_without_a_version_there_are_no_flags(self):
        view = view_of(Producer(is_versioned=False))
        assert not view.readonly
        assert not view.is_copied

    def test_they_are_exported_again(self):
        view = view_of(Producer(flags=1))
        assert not np.from_dlpack(view).flags.writeable

    def test_another_major_version_is_refused_and_released(self):
        producer = Producer(version=(2, 0))
        with pytest.raises(BufferError, match="exports DLPack 2.0, but only 1.x is supported"):
            view_of(producer)
        assert producer.deleted == 1

    def test_a_later_minor_version_is_read(self):
        assert view_of(Producer(version=(1, 99))).shape == (3, 4)


class TestContents:
    def test_a_negative_stride_that_was_divided_as_unsigned_is_corrected(self):
        """CuPy exports such strides for reversed arrays."""
        assert view_of(Producer(strides=((2**64 - 16) // 4, 1))).strides == (-4, 1)

    def test_the_offset_in_bytes_moves_the_address(self):
        producer = Producer(byte_offset=16)
        assert view_of(producer).ptr == producer.array.ctypes.data + 16

    def test_without_strides_the_order_is_that_of_c(self):
        view = view_of(Producer(strides=(), **{}))
        assert view.strides == (0, 0)
        producer = Producer()
        producer.managed.content.strides = None
        view = view_of(producer)
        assert view.strides is None
        assert view.is_contiguous_c
        assert np.array_equal(np.from_dlpack(view), producer.array)

    @pytest.mark.parametrize(
        ("changes", "error", "text"),
        [
            ({"ndim": -1}, BufferError, "has -1 axes"),
            ({"ndim": 65}, ValueError, "Max supported ndim is 64"),
            ({"ndim": 2**31 - 1}, ValueError, "Max supported ndim is 64"),
            ({"shape": (-1, 4)}, ValueError, "non-negative"),
            ({"bits": 0}, ValueError, "whole number of bytes"),
            ({"bits": 12}, ValueError, "whole number of bytes"),
            ({"bits": 4}, ValueError, "whole number of bytes"),
        ],
    )
    def test_an_invalid_layout_is_refused(self, changes, error, text):
        producer = Producer(**changes)
        with pytest.raises(error, match=text):
            view_of(producer)
        gc.collect()
        assert producer.deleted == 1

    def test_a_tensor_without_a_shape_is_refused(self):
        producer = Producer()
        producer.managed.content.shape = None
        with pytest.raises(BufferError, match="no shape"):
            view_of(producer)
        assert producer.deleted == 1

    def test_types_without_a_dtype_are_reported_on_access(self):
        with pytest.raises(NotImplementedError, match="4 lanes"):
            view_of(Producer(bits=8, lanes=4)).dtype  # noqa: B018
        with pytest.raises(TypeError, match="type code 2 and 8 bits"):
            view_of(Producer(bits=8)).dtype  # noqa: B018
        with pytest.raises(TypeError, match="type code 99"):
            view_of(Producer(code=99)).dtype  # noqa: B018

    @pytest.mark.parametrize(
        ("code", "bits", "name"),
        [(0, 4, "int4"), (1, 4, "uint4"), (15, 6, "float6_e2m3fn"), (17, 4, "float4_e2m1fn")],
    )
    def test_padded_elements_are_one_byte_each(self, code, bits, name):
        view = view_of(Producer(code=code, bits=bits, flags=4))
        assert view.dtype.name == name
        assert view.itemsize == 1

    def test_a_missing_dtype_names_ml_dtypes(self, run_python):
        code = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np
from cuda.core.utils import StridedMemoryView
from tests.core.views.capsules import Producer
view = StridedMemoryView.from_dlpack(Producer(code=4, bits=16), -1)
print(view.shape, view.itemsize)
try:
    view.dtype
except NotImplementedError as error:
    print(error)
del view  # while the functions of its producer are there
"""
        lines = run_python(code).splitlines()
        assert lines[0] == "(3, 4) 2"
        assert lines[1].startswith("bfloat16 requires `ml_dtypes`")


class TestInvalidExporters:
    @pytest.mark.parametrize("answer", [3, None, (1,), (1, 2, 3), "ab"])
    def test_a_device_that_is_no_pair_is_refused(self, answer):
        producer = Producer()
        producer.device = answer
        with pytest.raises((BufferError, TypeError)):
            view_of(producer)

    @pytest.mark.parametrize("answer", [3, None, "capsule"])
    def test_an_invalid_capsule_is_refused(self, answer):
        producer = Producer()
        producer.capsule = lambda: answer
        with pytest.raises(BufferError, match="must return a DLPack capsule"):
            view_of(producer)

    def test_a_capsule_with_another_name_is_refused(self):
        import datetime

        producer = Producer()
        producer.capsule = lambda: datetime.datetime_CAPI
        with pytest.raises(BufferError, match="must return a DLPack capsule"):
            view_of(producer)

    def test_their_errors_propagate(self):
        producer = Producer()

        def fail():
            raise ZeroDivisionError("mine")

        producer.capsule = fail
        with pytest.raises(ZeroDivisionError, match="mine"):
            view_of(producer)
        producer.__class__ = type("Failing", (Producer,), {"__dlpack_device__": fail})
        with pytest.raises(TypeError):
            view_of(producer)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_a_deleter_that_raises_preserves_the_pending_error(self):
        producer = Producer(ndim=-1)
        producer.managed.deleter = deleter = type(producer.deleter)(lambda _: 1 // 0)
        with pytest.raises(BufferError, match="has -1 axes"):
            view_of(producer)
        assert deleter is not None
