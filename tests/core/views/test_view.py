# SPDX-License-Identifier: Apache-2.0
"""StridedMemoryView of host memory: its description of arrays, and derived views."""

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from cuda.core._layout import _StridedLayout as Layout
from cuda.core.utils import StridedMemoryView

ARRAYS = {
    "c order": np.arange(12, dtype=np.float32).reshape(3, 4),
    "fortran order": np.asfortranarray(np.arange(12).reshape(3, 4)),
    "sliced": np.arange(40, dtype=np.int16).reshape(5, 8)[1::2, 2::3],
    "backwards": np.arange(10, dtype=np.uint8)[::-1],
    "without elements": np.zeros((0, 3)),
    "without axes": np.array(3.5),
    "broadcast": np.broadcast_to(np.float64(2), (2, 3)),
    "five axes": np.arange(32, dtype=np.complex64).reshape(2, 2, 2, 2, 2).T,
}
NUMPY_TYPES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16"
FLOAT8_KINDS = "e3m4 e4m3 e4m3b11fnuz e4m3fn e4m3fnuz e5m2 e5m2fnuz e8m0fnu"
SUBBYTE_TYPES = "int2 int4 uint2 uint4 float6_e2m3fn float6_e3m2fn float4_e2m1fn"
TYPES = [
    *(NUMPY_TYPES + " bfloat16 " + SUBBYTE_TYPES).split(),
    *(f"float8_{kind}" for kind in FLOAT8_KINDS.split()),
]


def view_of(obj, stream=-1):
    return StridedMemoryView.from_dlpack(obj, stream_ptr=stream)


@pytest.mark.parametrize("name", ARRAYS)
class TestArrays:
    def test_it_has_the_description_of_numpy(self, name):
        array = ARRAYS[name]
        view = view_of(array)
        assert view.ptr == array.__array_interface__["data"][0]
        assert view.shape == array.shape
        assert view.size == array.size
        assert view.ndim == array.ndim
        assert view.dtype == array.dtype
        assert view.itemsize == array.itemsize
        assert view.nbytes == array.nbytes
        assert view.readonly == (not array.flags.writeable)
        assert view.exporting_obj is array
        assert view.device_id == -1
        assert not view.is_device_accessible
        if array.size:
            assert view.is_contiguous_c == array.flags.c_contiguous
            assert view.is_contiguous_f == array.flags.f_contiguous
        strides = tuple(stride // array.itemsize for stride in array.strides)
        assert view.strides == (strides or None)

    def test_numpy_imports_it_through_dlpack(self, name):
        array = ARRAYS[name]
        back = np.from_dlpack(view_of(array))
        assert back.dtype == array.dtype
        assert np.array_equal(back, array)
        assert back.flags.writeable == array.flags.writeable
        assert array.size == 0 or np.shares_memory(back, array)

    def test_numpy_imports_it_through_the_array_interface(self, name):
        array = ARRAYS[name]
        back = np.asarray(view_of(array))
        assert np.array_equal(back, array)
        assert array.size == 0 or np.shares_memory(back, array)

    def test_the_array_interface_gives_the_same_view(self, name):
        array = ARRAYS[name]
        view = StridedMemoryView.from_array_interface(array)
        assert (view.ptr, view.shape, view.dtype) == (array.ctypes.data, array.shape, array.dtype)
        assert view.readonly == (not array.flags.writeable)
        assert np.array_equal(np.from_dlpack(view), array)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_exported_and_imported(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    array = np.zeros((2, 3), dtype)
    view = view_of(array)
    assert view.dtype == dtype

    class Exporting:
        """Exports by the protocol, as other libraries do."""

        def __dlpack_device__(self):
            return view.__dlpack_device__()

        def __dlpack__(self, **options):
            return view.__dlpack__(max_version=(1, 0))

    imported = view_of(Exporting())
    assert imported.dtype == dtype
    assert imported.itemsize == dtype.itemsize
    assert imported.ptr == array.ctypes.data


class TestTypes:
    def test_numpy_reports_types_that_it_does_not_export(self):
        for dtype in (">f4", "f4,i4", "M8[s]", "g"):
            with pytest.raises(BufferError, match="DLPack only supports"):
                view_of(np.zeros(3, dtype))

    @pytest.mark.parametrize("dtype", [">f4", "M8[s]", "U5", "V3", "S7", "<m8[us]"])
    def test_the_array_interface_has_more_types(self, dtype):
        view = StridedMemoryView.from_array_interface(np.zeros(3, dtype))
        assert view.dtype == np.dtype(dtype)
        assert view.itemsize == np.dtype(dtype).itemsize
        assert np.asarray(view).dtype == np.dtype(dtype)
        with pytest.raises(BufferError, match="DLPack export"):
            view.__dlpack__()

    def test_structured_types_become_void(self):
        view = StridedMemoryView.from_array_interface(np.zeros(3, "f4,i8"))
        assert view.dtype == np.dtype("V12")

    def test_a_field_of_a_structured_array_has_strides(self):
        array = np.zeros(5, "f4,i4")
        assert view_of(array["f1"]).strides == (2,)
        with pytest.raises(BufferError):
            view_of(np.zeros(5, "f4,i1")["f0"])

    def test_a_view_can_have_another_type(self):
        view = view_of(np.array([1.0, 2.0], np.float32))
        assert np.from_dlpack(view.view(dtype="i4")).tolist() == [0x3F800000, 0x40000000]
        with pytest.raises(ValueError, match="does not match the layout's itemsize"):
            view.view(dtype=np.int64)
        with pytest.raises(TypeError):
            view.view(dtype="no type")


def structured(array):
    """Return a view whose type the array interface only states as text."""
    return StridedMemoryView.from_array_interface(array.view("M8[s]"))


class TestDerivedViews:
    def test_without_arguments_it_is_the_view_itself(self):
        view = view_of(np.zeros(3))
        assert view.view() is view

    def test_a_subscript_behaves_as_in_numpy(self):
        array = np.arange(60).reshape(3, 4, 5)
        view = view_of(array)
        for key in (0, -1, (1, 2), (slice(None), 1), (..., 0), (None, 2), np.s_[::2, ::-1], ()):
            assert np.array_equal(np.from_dlpack(view[key]), array[key])
        assert np.array_equal(np.from_dlpack(view[1:][1][:, 2]), array[1:][1][:, 2])

    def test_an_explicit_layout_is_used(self):
        view = view_of(np.arange(12.0))
        layout = view._layout[3:]
        sliced = view.view(layout)
        assert sliced._layout is layout
        assert sliced._layout is sliced._layout
        assert sliced.ptr == view.ptr + 24
        assert sliced.exporting_obj is view.exporting_obj

    def test_offsets_are_relative_to_the_first_view(self):
        view = view_of(np.arange(12.0))
        assert view[5:].view(view._layout).ptr == view.ptr

    def test_it_retains_the_exporter(self):
        array = np.arange(12.0)
        alive = weakref.ref(array)
        view = view_of(array)[2:][3:]
        del array
        gc.collect()
        assert np.from_dlpack(view).tolist() == [5.0, 6, 7, 8, 9, 10, 11]
        assert alive() is not None
        del view
        assert alive() is None

    def test_a_layout_of_other_elements_needs_a_view_without_a_type(self, pinned_block):
        array = np.arange(4.0)
        halves = Layout((8,), None, 4)
        for typed in (view_of(array), view_of(array).view(dtype="u8"), structured(array)):
            with pytest.raises(ValueError, match=r"dtype's itemsize \(8\) does not match .* \(4\)"):
                typed.view(halves)
        untyped = StridedMemoryView.from_buffer(pinned_block, (4,), itemsize=8)
        assert untyped.view(halves).itemsize == 4
        assert view_of(array).view(halves, dtype="u4").dtype == np.uint32

    def test_another_type_is_named_in_the_interface(self):
        view = StridedMemoryView.from_array_interface(np.zeros(3, "i4")).view(dtype=">u4")
        assert view.__array_interface__["typestr"] == ">u4"
        assert np.asarray(view).dtype == np.dtype(">u4")

    def test_a_layout_without_the_subscripted_axes_is_refused(self):
        text = r"The number of slices \(3\) is greater than the number of dimensions \(2\)"
        view = view_of(np.zeros((2, 3)))
        with pytest.raises((IndexError, ValueError), match=text):
            view[0, :, 0]

    def test_layouts_of_external_memory_are_unchecked(self):
        array = np.arange(12.0)
        view = view_of(array[11:]).view(Layout((12,), (-1,), 8))
        assert np.asarray(view).tolist() == array[::-1].tolist()

    def test_it_has_the_length_and_items_of_its_first_axis(self):
        view = view_of(np.arange(6).reshape(2, 3))
        assert len(view) == 2
        assert [np.from_dlpack(row).tolist() for row in view] == [[0, 1, 2], [3, 4, 5]]
        assert bool(view_of(np.zeros(0)))
        with pytest.raises(TypeError, match="without axes"):
            len(view[0, 0])


class TestObjects:
    def test_subclasses_are_honored(self):
        class Special(StridedMemoryView):
            pass

        array = np.zeros(3)
        assert type(Special.from_dlpack(array, -1)) is Special
        assert type(Special.from_array_interface(array)) is Special
        assert type(Special.from_any_interface(array, -1)[1:]) is Special

    def test_a_class_that_creates_another_type_is_refused(self):
        class Odd(StridedMemoryView):
            def __new__(cls):
                return 3

        with pytest.raises(TypeError, match="must return a StridedMemoryView, got int"):
            Odd.from_dlpack(np.zeros(3), -1)

    def test_equality_is_identity_and_weak_references_work(self):
        array = np.zeros(3)
        first, second = view_of(array), view_of(array)
        assert first != second
        assert len({first, second}) == 2
        assert weakref.ref(first)() is first

    def test_a_view_of_a_view_has_that_view_as_exporter(self):
        view = view_of(np.arange(6.0))
        derived = view_of(view)
        assert derived.exporting_obj is view
        assert np.array_equal(np.from_dlpack(derived), np.arange(6.0))

    def test_a_cycle_through_the_exporter_is_collected(self):
        class Array:
            def __init__(self):
                self.memory = np.zeros(3)
                self.__array_interface__ = self.memory.__array_interface__
                self.view = StridedMemoryView.from_array_interface(self)

        array = Array()
        alive = weakref.ref(array)
        del array
        gc.collect()
        assert alive() is None

    def test_it_is_not_pickled(self):
        import pickle

        with pytest.raises(TypeError, match="cannot pickle 'StridedMemoryView'"):
            pickle.dumps(view_of(np.zeros(3)))

    def test_its_attributes_cannot_be_set(self):
        view = view_of(np.zeros(3))
        for name in ("ptr", "shape", "strides", "dtype", "readonly", "exporting_obj", "_layout"):
            with pytest.raises(AttributeError):
                setattr(view, name, None)

    def test_its_text_is_complete(self):
        view = view_of(ARRAYS["c order"])
        lines = repr(view).split("\n")
        assert lines[0] == f"StridedMemoryView(ptr={view.ptr},"
        assert [line.strip(" ,)") for line in lines[1:]] == [
            "shape=(3, 4",
            "strides=(4, 1",
            "itemsize=4",
            "dtype=numpy.dtypes.Float32DType",
            "device_id=-1",
            "is_device_accessible=False",
            "readonly=False",
            "exporting_obj=numpy.ndarray",
        ]


class TestDeprecatedConstruction:
    def test_from_an_array_it_warns(self):
        with pytest.warns(DeprecationWarning, match=r"^Constructing a StridedMemoryView directly"):
            view = StridedMemoryView(np.zeros((2, 3)), -1)
        assert view.shape == (2, 3)

    def test_an_empty_view_has_no_layout(self):
        with pytest.warns(DeprecationWarning, match="empty StridedMemoryView is deprecated"):
            view = StridedMemoryView()
        assert (view.ptr, view.dtype, view.exporting_obj) == (0, None, None)
        for ask in (
            lambda: view.shape,
            lambda: view.strides,
            lambda: view.size,
            lambda: view.ndim,
            lambda: view.itemsize,
            lambda: view.nbytes,
            lambda: view.is_contiguous_c,
            lambda: view.is_contiguous_f,
            lambda: view._layout,
            lambda: view.as_mdspan(),
            lambda: len(view),
            lambda: view.view(),
            lambda: view[0],
            lambda: view.__dlpack__(),
            lambda: view.__array_interface__,
            lambda: repr(view),
        ):
            with pytest.raises(ValueError, match="Cannot infer layout"):
                ask()

    def test_it_is_initialized_once(self):
        view = view_of(np.zeros(3))
        with pytest.raises(RuntimeError, match="already initialized"):
            view.__init__(np.zeros(4), -1)
        assert view.shape == (3,)


class TestStreams:
    def test_none_is_ambiguous_for_host_memory(self):
        with pytest.raises(BufferError, match="stream=None is ambiguous"):
            StridedMemoryView.from_dlpack(np.zeros(3))
        with pytest.raises(BufferError, match="stream=None is ambiguous"):
            StridedMemoryView.from_any_interface(np.zeros(3))

    def test_no_stream_is_passed_to_an_exporter_of_host_memory(self):
        assert view_of(np.zeros(3), 5).shape == (3,)
        assert view_of(np.zeros(3), 0).shape == (3,)

    def test_a_stream_of_another_library_has_an_integer(self):
        class Handle:
            def __int__(self):
                return 7

        assert view_of(np.zeros(3), Handle()).shape == (3,)

    @pytest.mark.parametrize("stream", ["x", 1.5, [1]])
    def test_an_invalid_stream_is_refused(self, stream):
        with pytest.raises(TypeError):
            view_of(np.zeros(3), stream)


def test_an_object_without_a_protocol_is_refused_by_name():
    for make in (
        StridedMemoryView.from_dlpack,
        StridedMemoryView.from_any_interface,
        StridedMemoryView.from_cuda_array_interface,
    ):
        with pytest.raises(BufferError, match="does not support any data exchange protocol"):
            make(3, -1)
    with pytest.raises(BufferError, match="__array_interface__"):
        StridedMemoryView.from_array_interface(3)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"version": 2}, BufferError, "v3 or above"),
        ({"mask": 1}, BufferError, "mask is not supported"),
        ({"shape": [3]}, TypeError, "Expected tuple, got list"),
        ({"shape": (-3,)}, ValueError, "non-negative"),
        ({"strides": (4, 4)}, ValueError, "must have the same length"),
        ({"strides": (6,)}, ValueError, "must be divisible by itemsize"),
        ({"typestr": "zz"}, TypeError, "not understood"),
        ({"typestr": "<f0"}, TypeError, "not understood"),
        ({"typestr": "<f99999999999999999999"}, TypeError, "not understood"),
        ({"typestr": 3}, TypeError, "not understood"),
        ({"typestr": "<f4x"}, TypeError, "not understood"),
        ({"data": 3}, TypeError, "tuple of address and read-only flag"),
        ({"data": (2**64, False)}, OverflowError, None),
        ({"data": None}, BufferError, "no entry 'data'"),
        ({"shape": (2**40, 2**40)}, None, None),
    ],
)
def test_an_invalid_interface_is_refused(change, error, text):
    class Liar:
        def __init__(self):
            self.memory = np.zeros(3, np.float32)
            self.__array_interface__ = self.memory.__array_interface__ | change

    if error is None:
        with pytest.raises(OverflowError):
            StridedMemoryView.from_array_interface(Liar()).size  # noqa: B018
        return
    with pytest.raises(error, match=text):
        StridedMemoryView.from_array_interface(Liar())


def test_an_interface_that_is_no_dictionary_is_refused():
    class Liar:
        __array_interface__ = 3

    with pytest.raises(BufferError, match="must be a dict, got int"):
        StridedMemoryView.from_array_interface(Liar())
