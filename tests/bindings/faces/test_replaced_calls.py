# SPDX-License-Identifier: Apache-2.0
"""Values of `cuda.bindings._v2` whose functions the emulator refuses: each test defines them."""

import ctypes
import struct

import pytest
from cuda.bindings._v2 import driver

POINTER = ctypes.c_void_p
P2P_TOKENS, FABRIC = 5, 8


def test_a_border_color_is_a_list_of_four_numbers(put):
    def get(color, texture):
        assert texture == 7
        (ctypes.c_float * 4).from_address(color)[:] = [1.0, 2.5, -3.0, 4.0]

    put("cuTexRefGetBorderColor", get, POINTER, POINTER)
    assert driver.tex_ref_get_border_color(7) == [1.0, 2.5, -3.0, 4.0]


def test_a_border_color_that_is_not_written_is_black(put):
    put("cuTexRefGetBorderColor", lambda color, texture: None, POINTER, POINTER)
    assert driver.tex_ref_get_border_color(7) == [0.0] * 4


def test_an_attribute_whose_value_is_a_struct(put):
    def get(value, attribute, pointer):
        assert (attribute, pointer) == (P2P_TOKENS, 0x1000)
        ctypes.memmove(value, struct.pack("<QI", 0x0123456789ABCDEF, 42), 12)

    put("cuPointerGetAttribute", get, POINTER, ctypes.c_int, ctypes.c_uint64)
    tokens = driver.pointer_get_attribute(P2P_TOKENS, 0x1000)
    assert tokens.asdict() == {"p2p_token": 0x0123456789ABCDEF, "va_space_token": 42}


def test_a_struct_is_passed_by_its_address(put):
    handle = driver.MemFabricHandle_v1()
    ctypes.memmove(handle.ptr, bytes(range(64)), 64)

    def import_(result, value, kind):
        assert (ctypes.string_at(value, 64), kind) == (bytes(range(64)), FABRIC)
        ctypes.c_uint64.from_address(result).value = 99

    put("cuMemImportFromShareableHandle", import_, POINTER, POINTER, ctypes.c_int)
    assert driver.mem_import_from_shareable_handle(handle, FABRIC) == 99
    assert driver.mem_import_from_shareable_handle(handle.ptr, FABRIC) == 99


def test_the_bytes_of_an_identifier_are_read_written_and_bounded():
    uuid, identifier = driver.Uuid(), bytes(range(1, 17))
    uuid.bytes = identifier
    assert (uuid.bytes, bytes(uuid)) == (identifier, identifier)
    uuid.bytes = b"\xff" * 3  # the remaining bytes become zero
    assert uuid.bytes == b"\xff" * 3 + bytes(13)
    with pytest.raises(ValueError, match=r"Expected length of at most 16 for field bytes, got 17"):
        uuid.bytes = bytes(17)
    with pytest.raises(TypeError, match=r"^Uuid\.bytes: "):
        uuid.bytes = "text"
    assert uuid.bytes == b"\xff" * 3 + bytes(13)
