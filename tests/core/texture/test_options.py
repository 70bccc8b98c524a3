# SPDX-License-Identifier: Apache-2.0
"""Options of arrays and textures: accepted values, conversions, refusals."""

import warnings

import numpy as np
import pytest
from cuda.core.texture import MipmappedArrayOptions, OpaqueArrayOptions, TextureObjectOptions
from cuda.core.texture.options import FORMATS, address_modes
from cuda.core.typing import ArrayFormatType


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_is_a_member_its_name_or_a_dtype(format):
    for spelling in (format, ArrayFormatType(format), np.dtype(format), getattr(np, format)):
        assert OpaqueArrayOptions((3,), spelling, 1).format is ArrayFormatType(format)


@pytest.mark.parametrize("format", ["foo", "UINT8", "u1", "", "float64"])
def test_an_unknown_name_lists_the_names(format):
    message = (
        r"format must be an ArrayFormatType or one of \{'uint8', .*'float32'\}, got '" + format
    )
    with pytest.raises(ValueError, match=message):
        OpaqueArrayOptions((3,), format, 1)


@pytest.mark.parametrize("format", [np.float64, ">u2", np.dtype(">u2"), np.bool_, np.complex64])
def test_a_dtype_without_a_format_is_refused(format):
    format = np.dtype(format)
    with pytest.raises(ValueError, match="has no ArrayFormatType equivalent; supported formats"):
        OpaqueArrayOptions((3,), format, 1)


@pytest.mark.parametrize("format", [object(), 3, {"a": 1}])
def test_an_invalid_dtype_is_refused(format):
    with pytest.raises(ValueError, match="must be an ArrayFormatType, str, or NumPy dtype, got"):
        OpaqueArrayOptions((3,), format, 1)


@pytest.mark.parametrize("count", [True, False, 0, 3, -1, "1", None, 2.5])
def test_channels_are_1_2_or_4(count):
    with pytest.raises(ValueError, match="num_channels must be 1, 2, or 4, got"):
        OpaqueArrayOptions((3,), "uint8", count)


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        (5, TypeError, "shape must be a tuple of ints, got int"),
        (None, TypeError, "shape must be a tuple of ints, got NoneType"),
        ((), ValueError, "shape rank must be 1, 2, or 3, got 0"),
        ((1, 2, 3, 4), ValueError, "shape rank must be 1, 2, or 3, got 4"),
        ((4, 0), ValueError, r"shape\[1\] must be >= 1, got 0"),
        ((-1,), ValueError, r"shape\[0\] must be >= 1, got -1"),
    ],
)
@pytest.mark.parametrize("cls", [OpaqueArrayOptions, MipmappedArrayOptions])
def test_a_shape_is_one_to_three_extents(cls, shape, error, message):
    levels = (1,) if cls is MipmappedArrayOptions else ()
    with pytest.raises(error, match=message):
        cls(shape, "uint8", 1, *levels)


def test_a_shape_is_converted_to_a_tuple_of_ints():
    assert OpaqueArrayOptions([np.int64(4), 3], "uint8", 1).shape == (4, 3)


@pytest.mark.parametrize("levels", [0, -1])
def test_there_is_at_least_one_level(levels):
    with pytest.raises(ValueError, match=f"num_levels must be >= 1, got {levels}"):
        MipmappedArrayOptions((4,), "uint8", 1, levels)


@pytest.mark.parametrize(("shape", "most"), [((1,), 1), ((4,), 3), ((7, 8), 4), ((1, 2, 9), 4)])
def test_the_last_level_has_one_element(shape, most):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MipmappedArrayOptions(shape, "uint8", 1, most).num_levels == most
    text = f"num_levels is {most + 1}, .* has {most} levels"
    with pytest.warns(UserWarning, match=text) as warned:
        assert MipmappedArrayOptions(shape, "uint8", 1, most + 1).num_levels == most + 1
    assert warned[0].filename == __file__


def test_an_extent_is_an_int():
    with pytest.warns(DeprecationWarning, match="use 4") as warned:
        assert OpaqueArrayOptions((4.0,), "uint8", 1).shape == (4,)
    assert warned[0].filename == __file__
    for wrong in (4.5, "4", None):
        with pytest.raises(TypeError, match=r"shape\[0\] must be an int"):
            OpaqueArrayOptions((wrong,), "uint8", 1)


def test_options_are_compared_by_value_and_not_hashed():
    assert OpaqueArrayOptions((4,), "uint8", 1) == OpaqueArrayOptions([4], np.uint8, 1)
    with pytest.raises(TypeError):
        hash(OpaqueArrayOptions((4,), "uint8", 1))


@pytest.mark.parametrize("name", ["filter_mode", "read_mode", "mipmap_filter_mode"])
@pytest.mark.parametrize("value", ["foo", "LINEAR", 3, None])
def test_a_mode_is_one_of_the_modes(name, value):
    with pytest.raises(
        ValueError, match=f"{name} must be a .*ModeType or one of .*, got {value!r}"
    ):
        TextureObjectOptions(**{name: value})


def test_the_defaults_are_those_of_the_driver():
    plain = TextureObjectOptions()
    assert (plain.address_mode, plain.filter_mode, plain.read_mode) == (
        "clamp",
        "point",
        "element_type",
    )


@pytest.mark.parametrize(
    ("modes", "numbers"),
    [
        ("wrap", [0, 0, 0]),
        (("clamp",), [1, 1, 1]),
        (["clamp", "mirror"], [1, 2, 2]),
        (("border", "wrap", "clamp"), [3, 0, 1]),
    ],
)
def test_the_last_mode_is_that_of_further_axes(modes, numbers):
    assert address_modes(modes) == numbers


def test_the_module_requires_no_numpy(run_python):
    code = """
import sys
from cuda.core.texture import OpaqueArrayOptions, TextureObjectOptions, OpaqueArray
OpaqueArrayOptions((4, 3), "float32", 1)
TextureObjectOptions()
print("numpy" in sys.modules, "libcuda" in open("/proc/self/maps").read())
"""
    assert run_python(code).strip() == "False False"
