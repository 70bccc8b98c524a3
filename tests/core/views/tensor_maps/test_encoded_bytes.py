# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: bytes against the driver's encoders, enumerations against its header, and rules."""

import ctypes
import inspect

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    CUDAError,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
)
from cuda.core.utils import StridedMemoryView
from cuda.core.views.tensor_maps import tensor_map_options as options

from ....bindings.function_tables import Replacements

SHAPES = {3: (4, 8, 16), 4: (2, 4, 8, 16), 5: (2, 3, 4, 8, 16)}
STEPS = (5, 4, 3, 2, 1)
BLOCK = 65536


@pytest.fixture
def buffer(device, stream):
    with device.allocate(BLOCK, stream=stream) as buffer:
        yield buffer


def reversed_as(cls, numbers):
    return [cls(number) for number in reversed(numbers)]


def dimensions(buffer, shape, itemsize, steps):
    """Return the leading arguments of the driver's encoders, the innermost axis first."""
    strides = [itemsize * int(np.prod(shape[axis:])) for axis in range(1, len(shape))]
    return (
        (len(shape), int(buffer.handle), reversed_as(driver.cuuint64_t, shape)),
        reversed_as(driver.cuuint64_t, strides),
        reversed_as(driver.cuuint32_t, steps),
    )


def encoded(result):
    error, native = result
    assert error == driver.CUresult.CUDA_SUCCESS
    return b"".join(int(word).to_bytes(8, "little") for word in native.opaque)


@pytest.mark.parametrize("rank", SHAPES)
def test_columns_have_the_bytes_of_the_driver(buffer, rank):
    shape, steps = SHAPES[rank], STEPS[-rank:]
    lower, upper = (-1, 2, -3)[: rank - 2], (1, -2, 3)[: rank - 2]
    view = StridedMemoryView.from_buffer(buffer, shape, dtype="f4")
    columns = TensorMapDescriptor._from_im2col(
        view,
        lower,
        upper,
        8,
        12,
        element_strides=steps,
        data_type="TFLOAT32",
        swizzle="SWIZZLE_64B",
        l2_promotion="L2_256B",
        oob_fill="NAN_REQUEST_ZERO_FMA",
    )
    (first, strides, steps) = dimensions(buffer, shape, 4, steps)
    expected = driver.cuTensorMapEncodeIm2col(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        *first,
        strides,
        lower[::-1],
        upper[::-1],
        8,
        12,
        steps,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_64B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    )
    assert columns.__cuda_kernel_arg__() == encoded(expected)
    assert repr(columns) == (
        f"TensorMapDescriptor(im2col, rank={rank}, dtype=TFLOAT32, swizzle=SWIZZLE_64B)"
    )


def test_box_and_steps_have_the_bytes_of_the_driver(buffer):
    """`test_tensor_map.py` leaves all steps at 1 and the boxes symmetric."""
    shape, steps = (2, 4, 8, 16), (1, 2, 3, 4)
    view = StridedMemoryView.from_buffer(buffer, shape, dtype="u2")
    arguments = {
        "box_dim": (1, 2, 3, 8),
        "element_strides": steps,
        "interleave": "INTERLEAVE_16B",
        "l2_promotion": "L2_128B",
    }
    tiled = TensorMapDescriptor._from_tiled(view, **arguments)
    (first, strides, steps) = dimensions(buffer, shape, 2, steps)
    expected = driver.cuTensorMapEncodeTiled(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_UINT16,
        *first,
        strides,
        [driver.cuuint32_t(n) for n in (8, 3, 2, 1)],
        steps,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_16B,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    assert tiled.__cuda_kernel_arg__() == encoded(expected)
    assert view.as_tensor_map(**arguments).__cuda_kernel_arg__() == encoded(expected)
    settings = TensorMapDescriptorOptions(**arguments)
    assert view.as_tensor_map(options=settings).__cuda_kernel_arg__() == encoded(expected)


def test_wide_columns_have_the_arguments_of_the_driver(buffer):
    """A function in place of the driver's, since the emulator encodes no such map."""

    def encode(native, data_type, rank, address, extents, strides, lower, upper, *further):
        channels, pixels, steps, *kinds = further
        seen.append((data_type, rank, address, extents[:4], strides[:3], lower, upper))
        seen.append((channels, pixels, steps[:4], *kinds))

    seen, replacements = [], Replacements()
    number, natural, pointer = ctypes.c_int, ctypes.c_uint, ctypes.POINTER
    longs = pointer(ctypes.c_uint64)
    replacements.put(
        "cuTensorMapEncodeIm2colWide", encode,
        ctypes.c_void_p, number, natural, ctypes.c_void_p, longs, longs, number, number, natural,
        natural, pointer(natural), *[number] * 5,
    )  # fmt: skip
    try:
        view = StridedMemoryView.from_buffer(buffer, (2, 4, 8, 16), dtype="f4")
        TensorMapDescriptor._from_im2col_wide(
            view, -3, 5, 8, 96, element_strides=(1, 2, 3, 4), interleave="INTERLEAVE_32B",
            swizzle="SWIZZLE_128B", mode="W128", l2_promotion="L2_64B",
            oob_fill="NAN_REQUEST_ZERO_FMA",
        )  # fmt: skip
    finally:
        replacements.undo()
    prefix = "CU_TENSOR_MAP_"
    assert seen == [
        (
            driver.CUtensorMapDataType[f"{prefix}DATA_TYPE_FLOAT32"],
            4,
            int(buffer.handle),
            [16, 8, 4, 2],
            [64, 512, 2048],
            -3,
            5,
        ),
        (
            8,
            96,
            [4, 3, 2, 1],
            driver.CUtensorMapInterleave[f"{prefix}INTERLEAVE_32B"],
            driver.CUtensorMapIm2ColWideMode[f"{prefix}IM2COL_WIDE_MODE_W128"],
            driver.CUtensorMapSwizzle[f"{prefix}SWIZZLE_128B"],
            driver.CUtensorMapL2promotion[f"{prefix}L2_PROMOTION_L2_64B"],
            driver.CUtensorMapFloatOOBfill[f"{prefix}FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA"],
        ),
    ]


def test_the_rules_of_wide_columns_are_named(buffer, emulation):
    """The emulator encodes no such map."""
    view = StridedMemoryView.from_buffer(buffer, (4, 8, 16), dtype="f4")
    with pytest.raises(CUDAError, match="cuTensorMapEncodeIm2colWide") as caught:
        TensorMapDescriptor._from_im2col_wide(view, 0, 0, 257, 1025, swizzle="NONE", mode="W128")
    rules = str(caught.value).split("\n")[1:]
    assert [rule.split(" is ")[0] for rule in rules[:3]] == [
        "the innermost extent of the box (channels_per_pixel)",
        "channels_per_pixel",
        "pixels_per_column",
    ]


@pytest.mark.parametrize(
    ("cls", "native", "prefix"),
    [
        (options.TensorMapDataType, driver.CUtensorMapDataType, "DATA_TYPE"),
        (options.TensorMapInterleave, driver.CUtensorMapInterleave, "INTERLEAVE"),
        (options.TensorMapSwizzle, driver.CUtensorMapSwizzle, "SWIZZLE"),
        (options.TensorMapL2Promotion, driver.CUtensorMapL2promotion, "L2_PROMOTION"),
        (options.TensorMapOOBFill, driver.CUtensorMapFloatOOBfill, "FLOAT_OOB_FILL"),
        (options.TensorMapIm2ColWideMode, driver.CUtensorMapIm2ColWideMode, "IM2COL_WIDE_MODE"),
    ],
)
def test_members_have_the_numbers_of_the_driver(cls, native, prefix):
    for member in cls:
        name = f"CU_TENSOR_MAP_{prefix}_{member.name.removeprefix(prefix + '_')}"
        assert native[name].value == member.value


@pytest.mark.parametrize("dtype", [member.name.lower() for member in TensorMapDataType][:10])
def test_a_dtype_has_the_data_type_of_its_name(buffer, dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rows = StridedMemoryView.from_buffer(buffer, (64, 64), dtype=dtype)
    name = TensorMapDataType[dtype.name.upper()].name
    assert f"dtype={name}," in repr(rows.as_tensor_map((4, 16)))
    if dtype.itemsize > 1:
        other = np.dtype(dtype.name).newbyteorder() if dtype.isbuiltin == 1 else None
        if other is not None:
            with pytest.raises(ValueError, match=r"Unsupported dtype .* supported dtypes: uint8,"):
                rows.as_tensor_map((4, 16), data_type=other)


def rules(**changes):
    """Return the broken rules of a map that follows all of them but for the changes."""
    numbers = {
        "address": 1 << 20,
        "row": 64,
        "row_name": "box_dim[1]",
        "size": 4,
        "extents": [64, 64],
        "element_strides": [1, 1],
        "strides": [256],
        "data_type": TensorMapDataType.FLOAT32,
        "interleave": 0,
        "swizzle": 0,
        "fill": 0,
        **changes,
    }
    return options.MapRules(**numbers).broken()


AXIS = "the extent of axis"
ROW = "the innermost extent of the box (box_dim[1]) is"


@pytest.mark.parametrize(
    ("within", "beyond", "text"),
    [
        ({"row": 16}, {"row": 8}, f"{ROW} 8 bytes, but must be a multiple of 16 bytes: change it "
         "to a multiple of 4 elements of 4 bytes"),
        ({"row": 32, "size": 32}, {"row": 40, "size": 32}, f"{ROW} 40 bytes, but must be a "
         "multiple of 16 bytes: change it to a multiple of 1 elements of 32 bytes"),
        ({"row": 32, "swizzle": 1}, {"row": 48, "swizzle": 1},
         f"{ROW} 48 bytes, but SWIZZLE_32B supports up to 32 bytes: use at most 8 elements"),
        ({"row": 128, "swizzle": 3, "size": 2}, {"row": 144, "swizzle": 3, "size": 2},
         f"{ROW} 144 bytes, but SWIZZLE_128B supports up to 128 bytes: use at most 64 elements"),
        ({"row": 8, "interleave": 1, "extents": [4, 4, 4]}, {"interleave": 1, "extents": [4, 4]},
         "interleave needs 3 axes or more, the tensor has 2"),
        ({"strides": [48]}, {"strides": [40]}, "the row pitch of axis 0 is 40 bytes, but must be a "
         "multiple of 16 bytes: pad the rows of the tensor"),
        ({"strides": [64, 32]}, {"strides": [56, 32]}, "the stride of axis 0 is 56 bytes, but must "
         "be a multiple of 16 bytes: pad the rows of the tensor"),
        ({"strides": [64], "interleave": 2, "extents": [4, 4, 4]},
         {"strides": [48], "interleave": 2, "extents": [4, 4, 4]}, "the row pitch of axis 0 is 48 "
         "bytes, but must be a multiple of 32 bytes: pad the rows of the tensor"),
        ({"strides": [2**40 - 16]}, {"strides": [2**40]},
         f"the row pitch of axis 0 is {2**40} bytes, the limit is 2**40"),
        ({"extents": [1, 2**32]}, {"extents": [1, 2**32 + 1]},
         f"{AXIS} 1 is {2**32 + 1}, but must be in [1, 2**32]"),
        ({"extents": [1, 1]}, {"extents": [0, 1]}, f"{AXIS} 0 is 0, but must be in [1, 2**32]"),
        ({"element_strides": [1, 8]}, {"element_strides": [1, 9]},
         "element_strides[1] is 9, but must be in [1, 8]"),
        ({"element_strides": [1, 1]}, {"element_strides": [0, 1]},
         "element_strides[0] is 0, but must be in [1, 8]"),
        ({"address": 16}, {"address": 24}, "the address 0x18 must be a multiple of 16 bytes"),
        ({"address": 32, "interleave": 2, "extents": [4, 4, 4]},
         {"address": 16, "interleave": 2, "extents": [4, 4, 4]},
         "the address 0x10 must be a multiple of 32 bytes"),
        ({"channels": 1}, {"channels": 0}, "channels_per_pixel is 0, but must be in [1, 256]"),
        ({"channels": 256}, {"channels": 257},
         "channels_per_pixel is 257, but must be in [1, 256]"),
        ({"pixels": 1}, {"pixels": 0}, "pixels_per_column is 0, but must be in [1, 1024]"),
        ({"pixels": 1024}, {"pixels": 1025}, "pixels_per_column is 1025, but must be in [1, 1024]"),
        ({"fill": 1, "data_type": TensorMapDataType.FLOAT16},
         {"fill": 1, "data_type": TensorMapDataType.INT64},
         "oob_fill with NaN needs a floating-point data_type, got INT64"),
    ],
)  # fmt: skip
def test_the_first_number_beyond_a_rule_is_named(within, beyond, text):
    assert rules(**within) == []
    assert rules(**beyond) == [text]


def test_an_im2col_box_may_have_one_channel_or_pixel_by_default():
    defaults = inspect.signature(options.MapRules).parameters
    assert (defaults["channels"].default, defaults["pixels"].default) == (1, 1)


@pytest.mark.parametrize("extent", [1, 256])
def test_the_extents_of_a_box_have_bounds(buffer, extent):
    view = StridedMemoryView.from_buffer(buffer, (256, 64), dtype="f4")
    assert view.as_tensor_map((extent, 16)).device.device_id == 0
    for beyond in (0, 257):
        with pytest.raises(ValueError, match=rf"box_dim\[0\] must be in \[1, 256\], got {beyond}"):
            view.as_tensor_map((beyond, 16))


def test_the_first_numbers_of_the_drivers_types_are_left_to_the_driver(buffer):
    view = StridedMemoryView.from_buffer(buffer, (2, 4, 8, 16), dtype="f4")
    for number in (0, 2**32 - 1):
        with pytest.raises(CUDAError, match=f"is {number}, but must be in"):
            view.as_tensor_map((1, 1, 1, 4), element_strides=(number, 1, 1, 1))
        with pytest.raises(CUDAError, match=f"pixels_per_column is {number}, but"):
            TensorMapDescriptor._from_im2col(view, (0, 0), (0, 0), 4, number)
    for number in (-(2**31), 2**31 - 1):
        with pytest.raises(CUDAError, match="cuTensorMapEncodeIm2col"):
            TensorMapDescriptor._from_im2col(view, (0, number), (0, 0), 4, 4)


def test_an_innermost_axis_of_one_element_may_have_any_stride(buffer):
    view = StridedMemoryView.from_buffer(buffer, (64, 1), (4, 3), dtype="f4")
    assert "rank=2" in repr(view.as_tensor_map((16, 4)))
