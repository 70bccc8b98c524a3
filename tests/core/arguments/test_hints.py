# SPDX-License-Identifier: Apache-2.0
"""Hints at other spellings, values in messages, and the bounds of integer options."""

import dataclasses

import cuda.core
import numpy as np
import pytest
from cuda.core import EventOptions, LaunchConfig, LinkerOptions, ProgramOptions, StreamOptions
from cuda.core._core import check_or_create_options
from cuda.core._kernel_arg_handler import ParamHolder
from cuda.core.arguments import suggestions
from cuda.core.arguments.shown import shown

NAMES = {
    *dir(LaunchConfig),
    *(field.name for cls in (EventOptions, LinkerOptions, ProgramOptions, StreamOptions)
      for field in dataclasses.fields(cls)),
}  # fmt: skip


@pytest.mark.parametrize("synonym", suggestions.SYNONYMS)
def test_a_synonym_is_no_option_and_leads_to_one(synonym):
    name = suggestions.SYNONYMS[synonym]
    assert name in NAMES and synonym not in NAMES
    for spelling in (synonym, synonym.upper()):
        assert suggestions.similar_name(spelling, ["other", name]) == f"; did you mean {name!r}?"
    assert name not in suggestions.similar_name(synonym, ["qqqq"])


def test_the_most_similar_name_or_all_names_are_listed():
    assert suggestions.similar_name("prioritty", ["priority", "x"]) == "; did you mean 'priority'?"
    assert suggestions.similar_name("zzzz", ["priority"]) == ""
    assert suggestions.similar_name(7, ["priority"]) == ""
    assert suggestions.names_hint("zzzz", ["a", "b"]) == "; the options are a, b"
    with pytest.raises(TypeError) as caught:
        check_or_create_options(StreamOptions, {"nonblocking": True, "prioritty": 1, "zzz": 2})
    assert str(caught.value) == (
        "StreamOptions.__init__() got an unexpected keyword argument 'prioritty'; did you mean "
        "'priority'?"
    )


def test_a_class_without_fields_raises_its_own_error():
    class Plain:
        def __init__(self, a=1):
            self.a = a

    assert suggestions.unknown_option(Plain, {"b": 1}) == ""
    assert suggestions.unknown_option(StreamOptions, {"priority": 1}) == ""
    with pytest.raises(TypeError, match="unexpected keyword argument 'b'$"):
        check_or_create_options(Plain, {"b": 1})
    assert check_or_create_options(Plain, {"a": 2}).a == 2


def test_a_long_value_is_cut_to_sixty_characters():
    assert shown("x" * 58) == repr("x" * 58)
    assert shown("x" * 59) == "'" + "x" * 56 + "..."
    assert shown(["a", "b  c"]) == "['a', 'b c']"

    class Broken:
        def __repr__(self):
            raise LookupError

    assert shown(Broken()) == "<Broken whose repr raises LookupError>"


class Address:
    """An integer of another library, such as of NumPy."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Array:
    def __init__(self, address):
        data = (Address(address), False)
        interface = {"version": 3, "shape": (1,), "typestr": "<f4", "data": data}
        self.__cuda_array_interface__ = interface


@pytest.mark.parametrize("address", [0, 1, 2**63, 2**64 - 1])
def test_an_address_may_be_any_integer(address, argument_in_kernel):
    assert int.from_bytes(argument_in_kernel(Array(address), 8), "little") == address


@pytest.mark.parametrize("address", [-1, 2**64])
def test_an_address_has_64_bits(address):
    with pytest.raises(OverflowError, match=f"from 0 to {2**64 - 1}, got {address}"):
        ParamHolder([Array(address)])


def test_a_handle_converts_to_its_number(stream):
    class Handle:
        def __int__(self):
            return int(stream.handle)

    assert cuda.core.Stream.from_handle(Handle()) == stream
    for wrong in (1.5, "1", None):
        with pytest.raises(TypeError, match="an integer is required"):
            cuda.core.Stream.from_handle(wrong)


class TestSizes:
    @pytest.mark.parametrize("size", [8, np.int64(8), Address(8)])
    def test_any_integer_is_a_size(self, device, stream, size):
        with device.allocate(size, stream=stream) as buffer:
            assert buffer.size == 8

    def test_a_whole_float_is_deprecated(self, device, stream):
        with pytest.warns(DeprecationWarning, match=r"float \(8\.0\) is deprecated: use 8$"):
            buffer = device.allocate(8.0, stream=stream)
        assert buffer.size == 8
        buffer.close()

    @pytest.mark.parametrize(
        ("size", "error", "text"),
        [
            (1.5, TypeError, "must be a whole number of bytes, got 1.5$"),
            ("8", TypeError, r"must be a whole number of bytes, got '8' \(str\)$"),
            (-1, OverflowError, "in bytes must not be negative, got -1$"),
            (2**64, OverflowError, f"is too large: {2**64} bytes exceed the address space$"),
        ],
    )
    def test_what_is_no_size_is_refused(self, device, stream, size, error, text):
        with pytest.raises(error, match=rf"^allocate\(\): size {text}"):
            device.allocate(size, stream=stream)
