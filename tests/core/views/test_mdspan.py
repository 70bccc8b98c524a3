# SPDX-License-Identifier: Apache-2.0
"""Views as arguments of kernels with cuda::std::mdspan parameters, from the header of libcu++."""

import functools
import gc
import pickle
import weakref

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.utils import StridedMemoryView

from ...libraries import header_options

TYPES = {
    "dims2_right_i32": ("int", "dyn, dyn", "right"),
    "dims2_right_i64": ("long long", "dyn, dyn", "right"),
    "dims2_left_u32": ("unsigned", "dyn, dyn", "left"),
    "dims2_stride_i32": ("int", "dyn, dyn", "stride"),
    "dims2_stride_i64": ("long long", "dyn, dyn", "stride"),
    "dims2_stride_u16": ("unsigned short", "dyn, dyn", "stride"),
    "half_static_stride_i32": ("int", "3, dyn", "stride"),
    "half_static_right_i64": ("long long", "dyn, 4", "right"),
    "static_right_i32": ("int", "3, 4", "right"),
    "static_stride_i32": ("int", "3, 4", "stride"),
}
INDEX_TYPES = {
    "int": "int32",
    "long long": "int64",
    "unsigned": "uint32",
    "unsigned short": "uint16",
}
# Writes the elements of a 3 x 4 view as the kernel sees them, and its size.
SOURCE = """
#include <cuda/std/mdspan>
using namespace cuda::std;
constexpr size_t dyn = dynamic_extent;
template <class M> __device__ void show(M x, float* elements, int* size) {
    size[0] = sizeof(M); size[1] = x.extent(0); size[2] = x.extent(1);
    for (int i = 0; i < x.extent(0); ++i)
        for (int j = 0; j < x.extent(1); ++j) elements[i * x.extent(1) + j] = x(i, j);
}
""" + "".join(
    f'extern "C" __global__ void {name}(mdspan<float, extents<{index}, {extents}>, '
    f"layout_{layout}> x, float* elements, int* size) {{ show(x, elements, size); }}\n"
    for name, (index, extents, layout) in TYPES.items()
)
ONE = LaunchConfig(grid=1, block=1)


@functools.cache
def compiled(arch):
    options = ProgramOptions(arch=arch, std="c++17", **header_options())
    return Program(SOURCE, "c++", options).compile("cubin")


@pytest.fixture
def kernel_of(device):
    """Return a kernel by its name, from code that is loaded and unloaded with it."""
    packed = pickle.dumps(compiled(f"sm_{device.arch}"))
    return lambda name: pickle.loads(packed).get_kernel(name)


@pytest.fixture
def pinned(device):
    """Memory that host and device access, as a NumPy array and as a view of a buffer."""
    buffers = []

    def make(values):
        buffer = LegacyPinnedMemoryResource().allocate(max(values.nbytes, 8))
        buffers.append(buffer)
        array = np.frombuffer(buffer, values.dtype, values.size).reshape(values.shape)
        array[...] = values
        return array, StridedMemoryView.from_buffer(buffer, values.shape, dtype=values.dtype)

    yield make
    for buffer in buffers:
        buffer.close()


def view_of(pinned, layout):
    """Return a 3 x 4 array of 0 to 11, and a view of it with the strides of the layout."""
    expected = np.arange(12, dtype=np.float32).reshape(3, 4)
    if layout == "right":
        return expected, pinned(expected)[1]
    if layout == "left":
        view = pinned(np.ascontiguousarray(expected.T))[1]
        return expected, view.view(view._layout.permuted((1, 0)))
    large = np.full((7, 8), -1, np.float32)
    large[1::2, 1::2] = expected
    return expected, pinned(large)[1][1::2, 1::2]


class TestInKernels:
    @pytest.mark.parametrize("name", TYPES)
    def test_a_kernel_reads_the_elements_of_the_view(self, name, kernel_of, stream, pinned):
        index, written, layout = TYPES[name]
        expected, view = view_of(pinned, layout)
        extents = [int(e) if e.strip().isdigit() else None for e in written.split(",")]
        argument = view.as_mdspan(layout, index_type=INDEX_TYPES[index], extents=extents)
        result, result_view = pinned(np.zeros((3, 4), np.float32))
        size, size_view = pinned(np.zeros(3, np.int32))
        launch(stream, ONE, kernel_of(name), argument, result_view, size_view)
        stream.sync()
        assert size.tolist() == [argument.nbytes, 3, 4]
        np.testing.assert_array_equal(result, expected)

    @pytest.mark.parametrize("layout", ["stride", "right"])
    def test_an_empty_view_has_no_elements(self, layout, kernel_of, stream, pinned):
        view = pinned(np.zeros((0, 4), np.float32))[1]
        size, size_view = pinned(np.zeros(3, np.int32))
        name = f"dims2_{layout}_i64"
        launch(stream, ONE, kernel_of(name), view.as_mdspan(layout), size_view, size_view)
        stream.sync()
        assert size.tolist()[1:] == [0, 4]

    def test_another_type_is_detected_by_its_size(self, kernel_of, stream, pinned):
        view = pinned(np.zeros((3, 4), np.float32))[1]
        kernel = kernel_of("dims2_right_i32")
        with pytest.raises(TypeError, match="16"):
            launch(stream, ONE, kernel, view.as_mdspan("right"), view, view)
        with pytest.raises(TypeError, match="16"):
            launch(stream, ONE, kernel, view, view, view)

    def test_freed_memory_is_refused(self, kernel_of, device, stream):
        buffer = device.allocate(48, stream=stream)
        view = StridedMemoryView.from_buffer(buffer, (3, 4), dtype=np.float32)
        argument = view.as_mdspan(index_type="int32")
        buffer.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            launch(stream, ONE, kernel_of("dims2_right_i32"), argument, 0, 0)

    def test_it_can_be_prepared(self, kernel_of, stream, pinned):
        expected, view = view_of(pinned, "stride")
        result, result_view = pinned(np.zeros((3, 4), np.float32))
        _, size = pinned(np.zeros(3, np.int32))
        kernel = kernel_of("dims2_stride_i64")
        prepared = kernel.prepare(ONE, view.as_mdspan("stride"), result_view, size)
        prepared(stream)
        stream.sync()
        np.testing.assert_array_equal(result, expected)


class TestForm:
    def test_it_retains_the_view(self, pinned):
        class View(StridedMemoryView):
            pass

        view = View.from_buffer(pinned(np.zeros(4, np.float32))[1].exporting_obj, (2,), itemsize=4)
        reference = weakref.ref(view)
        argument = view.as_mdspan()
        del view
        gc.collect()
        assert reference() is argument.view
        del argument
        gc.collect()
        assert reference() is None

    def test_its_repr_describes_it(self, pinned):
        argument = pinned(np.zeros((2, 3), np.float32))[1].as_mdspan(index_type=np.int32)
        assert repr(argument) == (
            "<Mdspan shape=(2, 3) strides=(3, 1) layout='right' index_type='int32' nbytes=16>"
        )
        assert (argument.layout, argument.index_type, argument.strides) == (
            "right",
            "int32",
            (3, 1),
        )

    @pytest.mark.parametrize(
        "index_type", [np.int32, np.dtype(np.int32), "int32", np.dtype("<i4")], ids=repr
    )
    def test_index_types_have_numpy_names(self, pinned, index_type):
        view = pinned(np.zeros(4, np.float32))[1]
        assert view.as_mdspan(index_type=index_type).index_type == "int32"

    def test_without_axes_it_is_the_address(self, pinned):
        view = StridedMemoryView.from_buffer(
            pinned(np.zeros(4, np.float32))[1].exporting_obj, (), itemsize=4
        )
        assert view.as_mdspan("stride").__cuda_kernel_arg__() == view.ptr.to_bytes(8, "little")


class TestRefusals:
    def view(self, pinned, key=np.s_[:, ::2]):
        return pinned(np.zeros((4, 6), np.float32))[1][key]

    def test_a_layout_that_does_not_match_the_view(self, pinned):
        for layout in ("right", "left"):
            with pytest.raises(ValueError, match=rf"layout_{layout} does not .* layout='stride'"):
                self.view(pinned).as_mdspan(layout)

    @pytest.mark.parametrize("key", [np.s_[::-1, :], np.s_[:, ::-1]])
    def test_strides_that_are_not_positive(self, pinned, key):
        with pytest.raises(ValueError, match="requires positive strides"):
            self.view(pinned, key).as_mdspan("stride")

    def test_a_broadcast_view(self, pinned):
        view = pinned(np.zeros((1, 6), np.float32))[1]
        with pytest.raises(ValueError, match="requires positive strides"):
            view.view(view._layout.broadcast_to((4, 6))).as_mdspan("stride")

    @pytest.mark.parametrize("layout", ["up", None, 3, "layout_right"])
    def test_other_layouts(self, pinned, layout):
        with pytest.raises(ValueError, match="layout must be one of right, left, stride"):
            self.view(pinned).as_mdspan(layout)

    @pytest.mark.parametrize(
        "index_type", ["float32", "int", None, 4, float, type("int32", (), {"name": "int32"})]
    )
    def test_other_index_types(self, pinned, index_type):
        with pytest.raises(ValueError, match="index_type must be one of int8"):
            self.view(pinned).as_mdspan("stride", index_type=index_type)

    @pytest.mark.parametrize(
        ("extents", "message"),
        [((4,), "must have 2 elements"), ((4, 5), r"extents\[1\] is 5, but .* 3")],
    )
    def test_extents_of_another_view(self, pinned, extents, message):
        with pytest.raises(ValueError, match=message):
            self.view(pinned).as_mdspan("stride", extents=extents)

    @pytest.mark.parametrize(("index_type", "fits"), [("int8", 127), ("uint8", 255)])
    def test_a_view_that_is_too_large_for_the_index_type(self, pinned, index_type, fits):
        view = pinned(np.zeros(300, np.uint8))[1]
        assert view[:fits].as_mdspan(index_type=index_type).nbytes == 16
        with pytest.raises(OverflowError, match=f"at most {fits}"):
            view[: fits + 1].as_mdspan(index_type=index_type)

    def test_memory_of_the_host_only(self):
        view = StridedMemoryView.from_dlpack(np.zeros(3, np.float32), -1)
        with pytest.raises(ValueError, match="not device-accessible"):
            view.as_mdspan()

    def test_a_view_without_a_layout(self):
        with pytest.warns(DeprecationWarning):
            view = StridedMemoryView()
        with pytest.raises(ValueError, match="Cannot infer layout"):
            view.as_mdspan()


@pytest.fixture
def large(pinned_block):
    """Return views of any shape over memory whose size is not checked."""
    memory = Buffer.from_handle(int(pinned_block.handle), 8, owner=pinned_block)

    def view(shape, strides=None):
        return StridedMemoryView.from_buffer(memory, shape, strides, dtype="u1")

    return view


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((1, 3), (7, 2), (3, 2)),
        ((0, 3), (5, 2), (3, 1)),
        ((2, 1, 4), (9, 5, 2), (9, 4, 2)),
        ((4, 0), (5, 3), (1, 1)),
        ((2, 3), None, (3, 1)),
    ],
)
def test_an_axis_of_at_most_one_index_has_the_stride_of_c_order(large, shape, strides, expected):
    argument = large(shape, strides).as_mdspan("stride", index_type="int64")
    assert argument.strides == expected
    assert f"strides={expected} layout='stride' index_type='int64'" in repr(argument)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["int", "uint"])
def test_the_span_of_the_elements_fits_the_index_type(large, sign, bits):
    most = 2 ** (bits - (sign == "int")) - 1
    name = f"{sign}{bits}"
    if most < 2**63 - 1:
        assert large((most,)).as_mdspan(index_type=name).index_type == name
        assert large((2,), (most - 1,)).as_mdspan("stride", index_type=name).strides == (most - 1,)
        for shape, strides in (((most + 1,), (1,)), ((2,), (most,))):
            text = f"does not fit an index type of at most {most}"
            with pytest.raises(OverflowError, match=text):
                large(shape, strides).as_mdspan("stride", index_type=name)
    else:
        assert large((2,), (2**62,)).as_mdspan("stride", index_type=name).nbytes >= 24
