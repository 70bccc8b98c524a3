# SPDX-License-Identifier: Apache-2.0
"""Structures as kernel arguments: their sizes."""

import ctypes

import numpy as np
import pytest
from cuda.core import LaunchConfig, launch
from cuda.core._kernel_arg_handler import ParamHolder


@pytest.mark.parametrize("size", [1, 24, 255, 256, 1000])
def test_structures_of_any_size_are_packed_repeatedly(size):
    """The instances of `void` have different sizes."""
    content = bytes(i % 251 for i in range(size))
    array = ctypes.c_uint8 * size
    structure = type("S", (ctypes.Structure,), {"_fields_": [("a", array)]})
    for value in (np.void(content), structure.from_buffer_copy(content)) * 3:
        holder = ParamHolder([value])
        assert ctypes.string_at(ctypes.c_void_p.from_address(holder.ptr), size) == content


def test_an_enlarged_structure_does_not_define_the_size_of_its_class(load_kernel, stream):
    kernel = load_kernel(".param .align 8 .b8 value[8]", "ret;", name="_Z1k1S")
    structure = type("S", (ctypes.Structure,), {"_fields_": [("p", ctypes.c_uint64)]})
    enlarged, usual = structure(1), structure(2)
    ctypes.resize(enlarged, 64)
    config = LaunchConfig(grid=1, block=1)
    for _ in range(3):
        with pytest.raises(TypeError, match="expected 8 bytes, got .*64 bytes"):
            launch(stream, config, kernel, enlarged)
    for _ in range(3):
        launch(stream, config, kernel, usual)
