# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions that raise, and errors that name function and argument."""

import ctypes

import pytest
from cuda.bindings import nvjitlink as link
from cuda.bindings import nvvm


class Number:
    def __index__(self):
        return 7


@pytest.mark.parametrize("handle", [7, True, Number(), link.InputType.CUBIN])
def test_a_handle_is_any_integer(record, handle):
    calls = record("nvJitLinkComplete", 1)
    assert link.complete(handle) is None
    assert calls == [(int(handle.__index__()),)]


@pytest.mark.parametrize("handle", [None, 1.5, "7", b"7", object()])
def test_a_nonintegral_handle_is_a_type_error(handle):
    with pytest.raises(TypeError, match=r"^nvjitlink\.complete\(\) argument 'handle': expected an"):
        link.complete(handle)


def test_numbers_out_of_range_are_overflow_errors():
    with pytest.raises(OverflowError, match=r"nvjitlink\.create\(\) argument 'num_options': -1"):
        link.create(-1, [])
    with pytest.raises(OverflowError, match=r"argument 'handle'"):
        link.complete(1 << 64)


def test_a_handle_is_passed_by_address_when_destroyed(put):
    values = []
    pointer = ctypes.POINTER(ctypes.c_void_p)
    put("nvJitLinkDestroy", lambda p: values.append(p[0]), pointer)
    assert link.destroy(0x1234) is None
    assert values == [0x1234]


def test_names_are_str_only():
    for wrong in (b"name", None, 7):
        with pytest.raises(TypeError, match=r"argument 'name': expected str, got"):
            link.add_data(1, 2, b"x", 1, wrong)
    with pytest.raises(ValueError, match=r"argument 'file_name': embedded null character"):
        link.add_file(1, 2, "a\0b")


@pytest.mark.parametrize("options", ["-lto", b"-lto", bytearray(b"-lto"), None, 1.5, {"-lto"}])
def test_options_that_are_no_sequence_are_a_type_error(options):
    with pytest.raises(
        TypeError, match=r"nvjitlink\.create\(\) argument 'options': expected a seq"
    ):
        link.create(1, options)


@pytest.mark.parametrize("wrong", [7, None, 1.5])
def test_a_nonstring_option_is_named_by_its_position(wrong):
    with pytest.raises(TypeError, match=r"argument 'options': element 1: expected str or bytes"):
        link.create(2, ["-lto", wrong])


def test_fewer_options_than_their_count_are_refused():
    with pytest.raises(RuntimeError, match="List is too small: 1 < 2"):
        link.create(2, ["-lto"])
    with pytest.raises(RuntimeError, match="List is too small: 0 < 1"):
        nvvm.compile_program(1, 1, [])


def test_options_reach_the_library_as_an_array_of_strings(put):
    seen = []

    def create(handle, count, options):
        seen.append([options[i] for i in range(count)])
        handle[0] = 0x77

    texts = ctypes.POINTER(ctypes.c_char_p)
    put("nvJitLinkCreate", create, ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32, texts)
    assert link.create(2, ("-arch=sm_90", b"-lto")) == 0x77
    assert link.create(num_options=1, options=["é"]) == 0x77
    assert seen == [[b"-arch=sm_90", b"-lto"], ["é".encode()]]


@pytest.mark.parametrize("data", ["text", 1.5, [1, 2], object(), memoryview(b"abcdef")[::2]])
def test_data_without_a_contiguous_buffer_is_a_value_error(data):
    with pytest.raises(ValueError, match=r"argument 'data': expected a contiguous buffer, an addr"):
        link.add_data(1, 2, data, 3, "name")


def test_a_buffer_of_another_size_than_stated_is_a_value_error():
    with pytest.raises(ValueError, match="4 bytes, the value of the size argument, got 3"):
        link.add_data(1, 2, b"abc", 4, "name")


def test_buffers_reach_the_library_at_their_address(record):
    calls = record("nvJitLinkAddData", 5)
    memory = ctypes.create_string_buffer(3)
    address = ctypes.addressof(memory)
    for value, expected in ((memory, address), (address, address), (None, None)):
        link.add_data(1, 2, value, 3, "name")
        assert calls[-1][2] == expected


def test_an_output_buffer_must_be_writable():
    with pytest.raises(ValueError, match=r"'log': expected a contiguous writable buffer"):
        link.get_error_log(1, bytes(10))


def test_missing_and_unknown_arguments_name_the_function():
    with pytest.raises(TypeError, match=r"^nvjitlink\.create\(\) missing required argument 'num_"):
        link.create()
    with pytest.raises(TypeError, match=r"^nvjitlink\.complete\(\) got an unexpected keyword arg"):
        link.complete(1, name=2)


def test_keywords_are_the_names_in_snake_case(record):
    calls = record("nvJitLinkAddFile", 3)
    link.add_file(handle=1, file_name="a", input_type=link.InputType.PTX)
    assert calls[0][:2] == (1, 2)
