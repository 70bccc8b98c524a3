# SPDX-License-Identifier: Apache-2.0
"""The limits that the driver checks when a tensor map is encoded."""

import ctypes

import pytest

pytestmark = pytest.mark.usefixtures("emulated", "driver")
INVALID_VALUE = 1
UINT8, UINT32, FLOAT16, FLOAT32, LAST_TYPE = 0, 2, 6, 7, 12
ALIGNED = 0x7000_0000_0000  # an address of the tensor, which the call does not read


def aligned_map(offset=0):
    memory = ctypes.create_string_buffer(128 + 64 + offset)
    start = -ctypes.addressof(memory) % 64 + offset
    return memory, ctypes.addressof(memory) + start


def numbers(kind, values):
    return None if values is None else (kind * len(values))(*values)


def encode(driver, kind="tiled", **changes):
    """Encode a valid map, with changed arguments."""
    p = {
        "type": FLOAT32, "rank": 3, "address": ALIGNED, "extents": [64] * 5,
        "strides": [256, 1 << 14, 1 << 20, 1 << 26], "box": [16, 2, 1, 1, 1],
        "element_strides": [1] * 5, "interleave": 0, "swizzle": 0, "promotion": 0, "fill": 0,
        "lower": [0] * 3, "upper": [0] * 3, "channels": 16, "pixels": 8, "offset": 0,
    } | changes  # fmt: skip
    _memory, address = aligned_map(p["offset"])
    u32, u64 = ctypes.c_uint32, ctypes.c_uint64
    tensor = [address, p["type"], p["rank"], p["address"],
              numbers(u64, p["extents"]), numbers(u64, p["strides"])]  # fmt: skip
    modes = [numbers(u32, p["element_strides"]), p["interleave"], p["swizzle"], p["promotion"],
             p["fill"]]  # fmt: skip
    if kind == "tiled":
        return driver.cuTensorMapEncodeTiled(*tensor, numbers(u32, p["box"]), *modes)
    corners = [numbers(ctypes.c_int32, p[each]) for each in ("lower", "upper")]
    return driver.cuTensorMapEncodeIm2col(*tensor, *corners, p["channels"], p["pixels"], *modes)


def changed(values, index, value):
    return [*values[:index], value, *values[index + 1 :]]


# arguments with a value at its limit, the same beyond the limit
SHARED = [
    ({"type": LAST_TYPE}, {"type": LAST_TYPE + 1}),
    ({"type": UINT8}, {"type": -1}),
    ({"rank": 5}, {"rank": 6}),
    ({"extents": [1] * 5}, {"extents": [64, 0, 64]}),
    ({"extents": [1 << 32] * 5}, {"extents": [64, 64, (1 << 32) + 1]}),
    ({"strides": [16, 16]}, {"strides": [16, 24]}),
    ({"strides": [(1 << 40) - 16, 32]}, {"strides": [1 << 40, 32]}),
    ({"strides": [256, (1 << 40) - 16]}, {"strides": [256, 1 << 40]}),
    ({"element_strides": [8, 8, 8]}, {"element_strides": [1, 9, 1]}),
    ({"element_strides": [1, 1, 1]}, {"element_strides": [1, 1, 0]}),
    ({"address": ALIGNED + 16}, {"address": ALIGNED + 8}),
    ({"address": ALIGNED + 32, "interleave": 2}, {"address": ALIGNED + 16, "interleave": 2}),
    ({"strides": [32, 64], "interleave": 2}, {"strides": [32, 48], "interleave": 2}),
    ({"strides": [16, 48], "interleave": 1}, {"strides": [16, 40], "interleave": 1}),
    ({"interleave": 2}, {"interleave": 3}),
    ({"interleave": 0}, {"interleave": -1}),
    ({"swizzle": 3}, {"swizzle": 4}),
    ({"swizzle": 0}, {"swizzle": -1}),
    ({"promotion": 3}, {"promotion": 4}),
    ({"promotion": 0}, {"promotion": -1}),
    ({"fill": 1}, {"fill": 2}),
    ({"fill": 0}, {"fill": -1}),
    ({"fill": 1, "type": FLOAT16, "channels": 16}, {"fill": 1, "type": UINT32}),
    ({"offset": 16}, {"offset": 8}),
    ({}, {"address": 0}),
    ({}, {"extents": None}),
    ({}, {"strides": None}),
    ({}, {"element_strides": None}),
]
TILED = [
    ({"rank": 1, "strides": None}, {"rank": 0}),
    ({"rank": 3, "interleave": 1}, {"rank": 2, "interleave": 1}),
    ({"box": [16, 256, 256]}, {"box": [16, 257, 1]}),
    ({"box": [256, 1, 1]}, {"box": [260, 1, 1]}),
    ({"box": [16, 1, 1]}, {"box": [16, 1, 0]}),
    ({"box": [4, 1, 1]}, {"box": [5, 1, 1]}),
    ({"box": [8, 1, 1], "swizzle": 1}, {"box": [12, 1, 1], "swizzle": 1}),
    ({"box": [16, 1, 1], "swizzle": 2}, {"box": [20, 1, 1], "swizzle": 2}),
    ({"box": [32, 1, 1], "swizzle": 3}, {"box": [36, 1, 1], "swizzle": 3}),
    ({"box": [36, 1, 1], "swizzle": 0}, {"box": None}),
    ({"box": [36, 1, 1], "swizzle": 1, "interleave": 1}, {"box": [36, 1, 1], "swizzle": 1}),
]
IM2COL = [
    ({"rank": 3}, {"rank": 2}),
    ({"channels": 256}, {"channels": 260}),
    ({"channels": 256, "type": UINT8}, {"channels": 257, "type": UINT8}),
    ({"channels": 4}, {"channels": 0}),
    ({"channels": 4}, {"channels": 5}),
    ({"channels": 8, "swizzle": 1}, {"channels": 12, "swizzle": 1}),
    ({"pixels": 1}, {"pixels": 0}),
    ({"pixels": 1024}, {"pixels": 1025}),
    ({"lower": [-(2**15)]}, {"lower": [-(2**15) - 1]}),
    ({"upper": [2**15 - 1]}, {"upper": [2**15]}),
    ({"rank": 4, "lower": [0, -(2**7)]}, {"rank": 4, "lower": [0, -(2**7) - 1]}),
    ({"rank": 4, "upper": [2**7 - 1, 0]}, {"rank": 4, "upper": [2**7, 0]}),
    ({"rank": 5, "lower": [0, 0, -16]}, {"rank": 5, "lower": [0, 0, -17]}),
    ({"rank": 5, "upper": [15, 15, 15]}, {"rank": 5, "upper": [16, 0, 0]}),
    ({}, {"lower": None}),
    ({}, {"upper": None}),
]
ROWS = [
    *[(kind, *row) for kind in ("tiled", "im2col") for row in SHARED],
    *[("tiled", *row) for row in TILED],
    *[("im2col", *row) for row in IM2COL],
]


@pytest.mark.parametrize(("kind", "accepted", "refused"), ROWS)
def test_arguments_beyond_a_limit_are_refused(driver, kind, accepted, refused):
    assert encode(driver, kind, **accepted) == 0
    assert encode(driver, kind, **refused) == INVALID_VALUE


@pytest.mark.parametrize(("interleave", "step"), [(0, 16), (1, 16), (2, 32)])
def test_a_replaced_address_is_aligned_as_the_first_one(driver, interleave, step):
    _memory, tensor_map = aligned_map()
    u32, u64 = ctypes.c_uint32, ctypes.c_uint64
    arguments = (tensor_map, FLOAT32, 3, ALIGNED, (u64 * 3)(64, 64, 64), (u64 * 2)(256, 1 << 14),
                 (u32 * 3)(16, 2, 1), (u32 * 3)(1, 1, 1), interleave, 0, 0, 0)  # fmt: skip
    replace = driver.cuTensorMapReplaceAddress
    assert replace(tensor_map, ALIGNED) == INVALID_VALUE  # it is not encoded
    assert driver.cuTensorMapEncodeTiled(*arguments) == 0
    before = ctypes.string_at(tensor_map, 128)
    assert replace(tensor_map, ALIGNED + step) == 0
    after = ctypes.string_at(tensor_map, 128)
    assert after != before
    for wrong in (0, ALIGNED + step // 2, ALIGNED + step + 1):
        assert replace(tensor_map, wrong) == INVALID_VALUE
    assert replace(tensor_map + 8, ALIGNED) == INVALID_VALUE
    assert ctypes.string_at(tensor_map, 128) == after
    assert replace(tensor_map, ALIGNED) == 0
    assert ctypes.string_at(tensor_map, 128) == before
