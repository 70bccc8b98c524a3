# SPDX-License-Identifier: Apache-2.0
"""DLPack and the array interface have one importer: views, copies and kernel arguments refuse the
same objects."""

import numpy as np
import pytest
from cuda.core import LegacyPinnedMemoryResource
from cuda.core._kernel_arg_handler import ParamHolder
from cuda.core.utils import StridedMemoryView

from .capsules import Producer, Versioned, capsule_pointer

SIZE = 48


def by_view(producer, buffer, stream):
    if hasattr(producer, "__dlpack__"):
        return StridedMemoryView.from_dlpack(producer, -1)
    return StridedMemoryView.from_cuda_array_interface(producer, stream)


def by_copy_from(producer, buffer, stream):
    buffer.copy_from(producer, stream=stream)


def by_copy_to(producer, buffer, stream):
    buffer.copy_to(producer, stream=stream)


def by_argument(producer, buffer, stream):
    ParamHolder([producer])


IMPORTERS = (by_view, by_copy_from, by_copy_to, by_argument)


@pytest.fixture
def buffer(device, stream):
    with device.allocate(SIZE, stream=stream) as buffer:
        buffer.fill(7, stream=stream)
        yield buffer


@pytest.fixture
def pinned():
    with LegacyPinnedMemoryResource().allocate(SIZE) as pinned:
        yield pinned


@pytest.mark.parametrize("importer", IMPORTERS)
class TestTensors:
    @pytest.mark.parametrize(
        ("changes", "errors", "text"),
        [
            ({"version": (7, 1)}, BufferError, "exports DLPack 7.1, but only 1.x"),
            ({"version": (0, 9)}, BufferError, "exports DLPack 0.9, but only 1.x"),
            ({"ndim": -2}, BufferError, "has -2 axes"),
            ({"ndim": 66}, ValueError, "Max supported ndim is 64"),
            ({"shape": (-3, -4)}, ValueError, "non-negative"),
            ({"shape": (2**40, 2**40)}, OverflowError, "more than 64 bits"),
            ({"data": None}, BufferError, "no address"),
            ({"byte_offset": 2**64 - 1}, OverflowError, "more than 64 bits"),
        ],
    )
    def test_fields_outside_of_dlpack_are_refused(
        self, importer, buffer, stream, changes, errors, text
    ):
        with pytest.raises(errors, match=text):
            importer(Producer((13, 0), **changes), buffer, stream)

    def test_a_null_shape_is_refused(self, importer, buffer, stream):
        producer = Producer((13, 0))
        producer.managed.content.shape = None
        with pytest.raises(BufferError, match="has no shape"):
            importer(producer, buffer, stream)

    @pytest.mark.parametrize("kind", [0, 4, 7, 8, 10, 14, 77, -1])
    def test_devices_without_addresses_are_refused(self, importer, buffer, stream, kind):
        with pytest.raises(BufferError, match="device not supported"):
            importer(Producer((kind, 0)), buffer, stream)

    @pytest.mark.parametrize(
        "pair",
        [
            *((2**32 + 2, 0), (2, 2**33), (2**70, 0), (2, 2**70), (2, -4), (2,), None, (2.5, 0)),
            *((2**31 + 2, 0), (2, 2**31)),
        ],
    )
    def test_devices_that_dlpack_cannot_hold_are_refused(self, importer, buffer, stream, pair):
        producer = Producer((2, 0))
        producer.device = pair
        with pytest.raises(BufferError, match="__dlpack_device__"):
            importer(producer, buffer, stream)

    def test_the_device_of_the_tensor_itself_is_checked(self, importer, buffer, stream):
        producer = Producer((4, 0))
        producer.device = (2, 0)
        with pytest.raises(BufferError, match="device not supported"):
            importer(producer, buffer, stream)

    def test_a_consumed_capsule_is_refused(self, importer, buffer, stream):
        producer = Producer((13, 0))
        capsule = producer.capsule()
        producer.capsule = lambda: capsule
        view = StridedMemoryView.from_dlpack(producer, -1)
        with pytest.raises(BufferError, match="consumed before"):
            importer(producer, buffer, stream)
        assert view.shape == (3, 4)


class Interface:
    def __init__(self, pinned, **changes):
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (12,),
            "typestr": "<f4",
            "strides": None,
            "data": (int(pinned.handle), False),
            **changes,
        }


@pytest.mark.parametrize("importer", IMPORTERS)
class TestInterfaces:
    def test_a_right_one_is_accepted(self, importer, buffer, stream, pinned):
        importer(Interface(pinned), buffer, stream)
        stream.sync()

    @pytest.mark.parametrize(
        ("changes", "errors", "text"),
        [
            ({"version": 2}, BufferError, "v3 or above"),
            ({"version": "3"}, BufferError, "v3 or above"),
            ({"mask": object()}, BufferError, "mask is not supported"),
            ({"data": None}, BufferError, "no entry 'data'"),
            ({"data": 12}, TypeError, "tuple of address and read-only flag"),
            ({"data": (-1, False)}, OverflowError, "address of the data .* from 0 to .* got -1"),
            ({"data": (2**64, False)}, OverflowError, "address of the data .* from 0 to"),
            ({"data": ("x", False)}, TypeError, "address of the data of .* must be an int"),
            ({"data": (np.arange(2), False)}, TypeError, "address of the data of .* must be"),
            ({"data": (0, np.arange(2))}, ValueError, "read-only flag of .* must be True or False"),
            ({"version": np.arange(2)}, BufferError, "v3 or above .* got version array"),
        ],
    )
    def test_fields_outside_of_the_interface_are_refused(
        self, importer, buffer, stream, pinned, changes, errors, text
    ):
        with pytest.raises(errors, match=text):
            importer(Interface(pinned, **changes), buffer, stream)

    def test_an_interface_that_is_no_dict_is_refused(self, importer, buffer, stream, pinned):
        producer = Interface(pinned)
        producer.__cuda_array_interface__ = 5
        with pytest.raises(BufferError, match="must be a dict"):
            importer(producer, buffer, stream)


@pytest.mark.parametrize("importer", [by_view, by_copy_from, by_argument])
def test_no_elements_need_no_address(importer, buffer, stream, pinned):
    importer(Interface(pinned, data=(None, False), shape=(0,)), buffer, stream)


@pytest.mark.parametrize("importer", IMPORTERS)
class TestErrorsOfProducers:
    @pytest.mark.parametrize("method", ["__dlpack__", "__dlpack_device__"])
    @pytest.mark.parametrize("error", [TypeError, AttributeError])
    def test_they_are_no_missing_method(self, importer, buffer, stream, method, error):
        def fail(self, **_):
            raise error("mine")

        producer = Producer((13, 0))
        producer.__class__ = type("Failing", (Producer,), {method: fail})
        with pytest.raises(error, match="mine"):
            importer(producer, buffer, stream)


class WrongLength(tuple):
    def __len__(self):
        return 1


@pytest.mark.parametrize("importer", IMPORTERS[:3])
class TestMemoryOfInterfaces:
    @pytest.mark.parametrize(
        ("changes", "errors", "text"),
        [
            ({"shape": [12]}, TypeError, "Expected tuple, got list"),
            ({"shape": (-12,)}, ValueError, "non-negative"),
            ({"typestr": "f"}, TypeError, "not understood"),
            ({"typestr": None}, BufferError, "no entry 'typestr'"),
            ({"strides": [4]}, TypeError, "Expected tuple, got list"),
            ({"strides": (4, 4)}, ValueError, "strides"),
            ({"data": (2**64 - 47, False)}, OverflowError, "beyond 64 bits|leaves the address"),
            ({"stream": 0}, BufferError, "stream 0, which is ambiguous"),
            ({"stream": -1}, BufferError, "names stream -1"),
            ({"stream": 2**64}, BufferError, "names stream 18446744073709551616"),
            ({"stream": "x"}, TypeError, "stream of __cuda_array_interface__ must be an int"),
            ({"stream": np.arange(2)}, TypeError, "stream of __cuda_array_interface__ must be"),
            ({"shape": ("x",)}, TypeError, "shape.* got 'x'"),
            ({"shape": (np.arange(2),)}, TypeError, "shape.* got array"),
            ({"strides": (4.0,)}, TypeError, "strides.* got 4.0"),
            ({"strides": WrongLength()}, ValueError, "(?i)strides"),
            ({"strides": WrongLength((4, 4))}, ValueError, "(?i)strides"),
        ],
    )
    def test_layouts_and_streams_are_checked(
        self, importer, buffer, stream, pinned, changes, errors, text
    ):
        with pytest.raises(errors, match=text):
            importer(Interface(pinned, **changes), buffer, stream)

    @pytest.mark.parametrize(
        ("shape", "strides"),
        [
            ((3, 4), (16, 4)),
            ((3, 4), (4, 12)),
            ((2, 1, 6), (24, 100, 4)),
            ((1, 12, 1), (7 * 4, 4, 0)),
            ((3, 4), None),
        ],
    )
    def test_strides_without_gaps_are_accepted(
        self, importer, buffer, stream, pinned, shape, strides
    ):
        importer(Interface(pinned, shape=shape, strides=strides), buffer, stream)
        stream.sync()

    def test_memory_of_the_host_is_refused(self, importer, buffer, stream, pinned):
        array = np.zeros(12, np.float32)
        with pytest.raises(BufferError, match="neither device memory nor known to the driver"):
            importer(Interface(pinned, data=(array.ctypes.data, False)), buffer, stream)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((3, 4), (20, 4)), ((3, 4), (4, 16)), ((3, 2, 2), (16, 4, 8)), ((12,), (6,)), ((12,), (8,))],
)
def test_strides_with_gaps_are_not_copied(buffer, stream, pinned, shape, strides):
    array = Interface(pinned, shape=shape, strides=strides)
    for copy, text in ((buffer.copy_to, "cannot copy into"), (buffer.copy_from, "cannot copy")):
        with pytest.raises(ValueError, match=f"{text} .*Interface: its memory is not contiguous"):
            copy(array, stream=stream)


def records(count=4):
    array = np.empty(count, dtype=[("number", "i4"), ("text", "O")])
    array["text"] = [object() for _ in range(count)]
    return array


def arrays_of_references():
    plain = np.array([object() for _ in range(6)], dtype=object)
    strings = np.array(["one", "two", "three" * 9], dtype=np.dtypes.StringDType())
    return {
        "objects": plain,
        "records": records(),
        "fields beside objects": records()[["number"]],
        "strings": strings,
        "subclass": records().view(np.recarray),
        "memoryview": memoryview(plain),
        "memoryview of fields": memoryview(records()[["number"]]),
        "bytes of objects": np.frombuffer(plain, np.uint8),
        "scalar": records()[0],
    }


class Endless(np.ndarray):
    """An array whose chain of bases never ends."""

    @property
    def base(self):
        return self


class TestReferences:
    """Bytes over references to Python objects would crash the process."""

    def test_a_chain_of_bases_has_a_limit(self, device, stream):
        array = np.zeros(4, np.int32).view(Endless)
        with device.allocate(array.nbytes, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
            buffer.copy_to(array, stream=stream)
            stream.sync()
        assert array.tolist() == [0x01010101] * 4

    @pytest.mark.parametrize("name", arrays_of_references())
    def test_a_copy_to_references_is_refused(self, device, stream, name):
        array = arrays_of_references()[name]
        before = repr(array)
        with device.allocate(
            memoryview(array).nbytes if name != "strings" else array.nbytes, stream=stream
        ) as buffer:
            buffer.fill(0x41, stream=stream)
            with pytest.raises(TypeError, match="references to Python objects"):
                buffer.copy_to(array, stream=stream)
            stream.sync()
        assert name.startswith("memoryview") or repr(array) == before

    @pytest.mark.parametrize("name", ["objects", "records", "strings", "subclass", "memoryview"])
    def test_a_copy_of_references_is_refused(self, device, stream, name):
        array = arrays_of_references()[name]
        with (
            device.allocate(array.nbytes, stream=stream) as buffer,
            pytest.raises(TypeError, match="references to Python objects"),
        ):
            buffer.copy_from(array, stream=stream)

    def test_a_field_named_like_the_type_is_copied(self, device, stream):
        array = np.zeros(4, dtype=[("O", "i4"), ("On", "f4")])
        with device.allocate(array.nbytes, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
            buffer.copy_to(array, stream=stream)
            stream.sync()
        assert array["O"].tolist() == [0x01010101] * 4

    def test_types_without_a_format_are_copied(self, device, stream):
        array = np.zeros(4, dtype="M8[s]")
        with device.allocate(array.nbytes, stream=stream) as buffer:
            buffer.fill(0, stream=stream)
            buffer.copy_to(array, stream=stream)

    @pytest.mark.parametrize("dtype", [object, np.dtype([("a", "i4"), ("b", "O")])])
    def test_a_view_of_a_buffer_has_no_references(self, device, stream, dtype):
        with device.allocate(64, stream=stream) as buffer:
            with pytest.raises(TypeError, match="references to Python objects"):
                StridedMemoryView.from_buffer(buffer, (1,), dtype=dtype)
            view = StridedMemoryView.from_buffer(buffer, (8,), itemsize=8)
            with pytest.raises(TypeError, match="references to Python objects"):
                view.view(dtype=dtype)

    @pytest.mark.parametrize("name", ["objects", "records", "fields beside objects", "subclass"])
    def test_views_of_references_are_not_copied(self, stream, name):
        array = arrays_of_references()[name]
        view = StridedMemoryView.from_array_interface(array)
        plain = StridedMemoryView.from_array_interface(
            np.zeros(array.shape, dtype=f"V{array.dtype.itemsize}")
        )
        with pytest.raises(TypeError, match="references to Python objects"):
            view.copy_from(plain, stream=stream)
        with pytest.raises(TypeError, match="references to Python objects"):
            plain.copy_from(view, stream=stream)

    @pytest.mark.parametrize("name", ["objects", "records", "bytes of objects"])
    def test_another_type_over_references_is_not_copied(self, stream, name):
        array = arrays_of_references()[name]
        view = StridedMemoryView.from_array_interface(array)
        numbers = np.zeros(array.shape, dtype=f"V{array.dtype.itemsize}")
        if name == "objects":
            view, numbers = view.view(dtype="u8"), np.zeros(array.shape, "u8")
        elif name == "bytes of objects":
            numbers = np.zeros(array.shape, "u1")
        with pytest.raises(TypeError, match="references to Python objects"):
            view.copy_from(StridedMemoryView.from_array_interface(numbers), stream=stream)

    def test_a_numeric_field_of_records_is_copied(self, stream):
        array = records()
        field = StridedMemoryView.from_array_interface(array["number"])
        numbers = StridedMemoryView.from_array_interface(np.arange(4, dtype=np.int32))
        field.copy_from(numbers, stream=stream)
        assert array["number"].tolist() == [0, 1, 2, 3]


class TestStrides:
    @pytest.mark.parametrize("stride", [2**61, 2**62, 2**62 + 1, 2**63 - 1, -(2**61), -(2**63)])
    def test_a_distance_beyond_64_bits_is_refused(self, stride):
        with pytest.raises(OverflowError):
            StridedMemoryView.from_dlpack(Producer(strides=(stride, 1)), -1)

    @pytest.mark.parametrize("stride", [2**40, -(2**62)])
    def test_the_stride_of_one_element_remains(self, stride):
        view = StridedMemoryView.from_dlpack(Producer(shape=(1, 4), strides=(stride, 1)), -1)
        assert view.strides == (stride, 1)

    def test_elements_below_address_zero_are_refused(self):
        with pytest.raises(OverflowError, match="address space"):
            StridedMemoryView.from_dlpack(Producer(strides=(-(2**50), 1)), -1)


class TestDevices:
    def test_a_page_locked_array_gets_no_stream(self, buffer, stream):
        """PyTorch rejects a stream for these."""
        producer = Producer((3, 0))
        buffer.copy_from(producer, stream=stream)
        assert producer.requests[0]["stream"] is None

    @pytest.mark.parametrize("kind", [2, 13])
    def test_a_device_array_gets_the_stream_of_the_copy(self, buffer, stream, kind):
        producer = Producer((kind, 0))
        buffer.copy_from(producer, stream=stream)
        assert producer.requests[0]["stream"] == int(stream.handle)

    @pytest.mark.parametrize("missing", ["__dlpack__", "__dlpack_device__"])
    @pytest.mark.parametrize("is_none", [True, False])
    def test_a_producer_without_an_export_is_refused(self, buffer, stream, missing, is_none):
        """None as a method is Python's way to say that a class lacks it."""
        methods = {"__dlpack__": lambda self, **_: None, "__dlpack_device__": lambda self: (2, 0)}
        del methods[missing]
        producer = type("Half", (), methods | ({missing: None} if is_none else {}))()
        for view in (StridedMemoryView.from_dlpack, StridedMemoryView.from_any_interface):
            with pytest.raises(BufferError, match="Half has neither __dlpack__ and"):
                view(producer, -1)
        for copy in (buffer.copy_from, buffer.copy_to):
            with pytest.raises(TypeError, match="DLPack or .*, got .*Half"):
                copy(producer, stream=stream)
        if is_none or missing == "__dlpack__":
            with pytest.raises(BufferError, match=f"1 of 1: .*Half .* has no {missing}"):
                ParamHolder([producer])

    def test_a_fortran_ordered_array_is_copied_in_the_order_of_memory(self, device, stream):
        array = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3))
        flat, columns = np.zeros(6, np.int32), np.zeros((2, 3), np.int32, order="F")
        with device.allocate(array.nbytes, stream=stream) as buffer:
            buffer.copy_from(array, stream=stream)
            buffer.copy_to(flat, stream=stream)
            buffer.copy_to(columns, stream=stream)
            stream.sync()
        assert flat.tolist() == [0, 3, 1, 4, 2, 5]
        assert (columns == array).all()

    def test_an_empty_tensor_has_no_elements(self):
        producer = Producer(shape=(0, 2**62, 2**62), strides=(1, 1, 1), ndim=3, data=None)
        view = StridedMemoryView.from_dlpack(producer, -1)
        assert (view.size, view.nbytes, view.ptr) == (0, 0, 0)


class TestRequests:
    def test_the_own_device_of_a_view_is_accepted(self):
        array = np.arange(6.0)
        view = StridedMemoryView.from_any_interface(array, -1)
        assert np.array_equal(np.from_dlpack(view, device="cpu"), array)
        assert '"dltensor"' in repr(view.__dlpack__(dl_device=(1, 0)))

    @pytest.mark.parametrize("kind", ["view", "buffer"])
    def test_other_requests_are_refused(self, buffer, kind):
        source = buffer if kind == "buffer" else StridedMemoryView.from_any_interface(buffer, -1)
        assert source.__dlpack__(dl_device=(2, 0), stream=-1)
        with pytest.raises(BufferError, match=r"or the device of the memory, \(2, 0\), got"):
            source.__dlpack__(dl_device=(1, 0))
        with pytest.raises(TypeError, match="dl_device must be a tuple"):
            source.__dlpack__(dl_device=2)
        for number in (-2, -(2**70), 2**64):
            with pytest.raises(ValueError, match=f"stream must be .* got {number}"):
                source.__dlpack__(stream=number)
        with pytest.raises(TypeError, match="stream must be an int or None, got float"):
            source.__dlpack__(stream=1.5)

    def test_an_array_interface_of_the_host_has_ordinal_zero(self):
        view = StridedMemoryView.from_array_interface(np.zeros(3))
        assert view.device_id == 0
        assert not view.is_device_accessible
        assert StridedMemoryView.from_dlpack(np.zeros(3), -1).device_id == -1


class TestElements:
    """The type of an array interface's elements, as DLPack names it."""

    @pytest.mark.parametrize(
        "typestr",
        [
            *("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"),
            *("<f2", "<f4", "<f8", "<c8", "<c16"),
        ],
    )
    def test_a_type_of_dlpack_is_exported(self, typestr):
        array = np.zeros(3, typestr)
        view = StridedMemoryView.from_array_interface(array)
        assert np.from_dlpack(view).dtype == view.dtype == array.dtype

    @pytest.mark.parametrize("typestr", ["<f16", "<c32", "<U3", "|V2", "|S1", "<M8[s]", ">i4"])
    def test_another_type_is_not_exported(self, typestr):
        array = np.zeros(3, typestr)
        view = StridedMemoryView.from_array_interface(array)
        assert view.dtype == array.dtype
        with pytest.raises(BufferError):
            view.__dlpack__()


def test_older_names_import_the_interfaces(stream, pinned):
    from cuda.core import _memoryview

    array = np.arange(6, dtype="i2")
    on_host = _memoryview.view_as_array_interface(array)
    on_device = _memoryview.view_as_cai(Interface(pinned), -1)
    assert (on_host.shape, on_host.ptr) == ((6,), array.ctypes.data)
    assert (on_device.shape, on_device.ptr) == ((12,), int(pinned.handle))
    with pytest.warns(DeprecationWarning, match="empty StridedMemoryView"):
        empty = StridedMemoryView()
    assert _memoryview.view_as_cai(Interface(pinned), -1, empty) is empty
    assert empty.ptr == on_device.ptr


class TestViewsWithoutAType:
    @pytest.fixture
    def view(self, buffer):
        return StridedMemoryView.from_buffer(buffer, (6,), itemsize=8)

    def test_dlpack_and_tensor_maps_need_a_type(self, view):
        assert view.dtype is None
        with pytest.raises(BufferError, match="without dtype information"):
            view.__dlpack__()
        with pytest.raises(ValueError, match="Cannot infer TMA data type"):
            view.as_tensor_map((2,))

    def test_its_interface_names_elements_of_their_size(self, view, buffer):
        interface = view.__cuda_array_interface__
        assert (interface["typestr"], interface["shape"]) == ("|V8", (6,))
        assert interface["data"] == (int(buffer.handle), False)


def test_the_constructor_imports_an_interface_or_names_the_protocols(pinned):
    with pytest.warns(DeprecationWarning, match="from_cuda_array_interface"):
        view = StridedMemoryView(Interface(pinned), -1)
    assert (view.ptr, view.shape) == (int(pinned.handle), (12,))
    with pytest.raises(BufferError, match="int has neither __dlpack__ and __dlpack_device__ nor"):
        StridedMemoryView(3, -1)


@pytest.mark.parametrize("copy", [0, "", (), "no", np.False_], ids=repr)
def test_the_request_for_a_copy_is_a_bool(device, stream, copy):
    buffer = device.allocate(16, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, shape=(16,), dtype="u1")
    for exporter in (buffer, view):
        with pytest.raises(TypeError, match="copy must be a bool or None, got"):
            exporter.__dlpack__(copy=copy)
        assert exporter.__dlpack__(copy=False)


def flags_of(capsule):
    return Versioned.from_address(capsule_pointer(capsule, b"dltensor_versioned")).flags


@pytest.mark.parametrize("flags", [0, 1, 2, 3])
def test_a_view_exports_the_flags_of_its_producer(flags):
    """1 marks a tensor that is only read, and 2 a copy."""
    view = StridedMemoryView.from_dlpack(Producer(flags=flags), -1)
    assert view.readonly == bool(flags & 1)
    assert flags_of(view.__dlpack__(max_version=(1, 0))) == flags


def test_elements_below_a_byte_are_marked_as_padded():
    producer = Producer(code=1, bits=4, flags=4)
    view = StridedMemoryView.from_dlpack(producer, -1)
    assert flags_of(view.__dlpack__(max_version=(1, 0))) == 4


def test_a_copy_of_the_producer_is_no_target(stream):
    source = StridedMemoryView.from_dlpack(Producer(), -1)
    copied = StridedMemoryView.from_dlpack(Producer(flags=2), -1)
    with pytest.raises(BufferError, match="a copy that its producer made"):
        copied.copy_from(source, stream=stream)


def test_an_interface_of_managed_memory_has_its_kind(device, stream):
    from cuda.core import ManagedMemoryResource

    with ManagedMemoryResource().allocate(48, stream=stream) as managed:
        view = StridedMemoryView.from_cuda_array_interface(Interface(managed), -1)
        assert view.__dlpack_device__() == (13, 0)
    none = StridedMemoryView.from_cuda_array_interface(
        Interface(managed, data=(0, False), shape=(0,)), -1
    )
    assert (none.__dlpack_device__(), none.device_id) == ((2, 0), 0)
