# SPDX-License-Identifier: Apache-2.0
"""Values that a user's cache returns: types of images, blank files, and names that are missing."""

import pytest
from cuda.core import ObjectCode, Program, ProgramOptions

from .user_cache import MinimalCache

SOURCE = """
extern "C" __global__ void f(int* x) { *x = 1; }
template <int N> __global__ void g(int* x) { *x = N; }
"""


class Cache(MinimalCache):
    """A minimal cache whose values are converted when they are read."""

    def __init__(self, convert):
        super().__init__()
        self.convert = convert

    def __getitem__(self, key):
        return self.convert(super().__getitem__(key))


def compiled(cache, names=()):
    with Program(SOURCE, "c++", ProgramOptions(arch="sm_90")) as program:
        return program.compile("ptx", name_expressions=names, cache=cache)


@pytest.mark.parametrize(
    ("convert", "is_hit"),
    [
        (bytes, True),
        (bytearray, True),
        (memoryview, True),
        (lambda image: bytes(len(image)), False),
        (lambda image: bytearray(len(image)), False),
        (lambda image: memoryview(bytes(len(image))), False),
        (lambda image: b"\0" + image[1:], True),
        (lambda image: b"", False),
    ],
    ids=["bytes", "bytearray", "view", "blank", "blank array", "blank view", "first 0", "empty"],
)
def test_only_a_blank_image_is_compiled_again(convert, is_hit):
    cache = Cache(convert)
    first, second = compiled(cache), compiled(cache)
    assert cache.calls.count("set") == (1 if is_hit else 2)
    expected = bytes(convert(first.code)) if is_hit else first.code
    assert bytes(second.code) == expected and type(second.code) in (bytes, bytearray)


def test_an_object_code_keeps_its_names_and_is_named_by_the_compiler():
    name = "g<3>"
    cache = Cache(bytes)
    first = compiled(cache, [name])
    values = ObjectCode.from_ptx(first.code, symbol_mapping={name: b"_Z1gILi3EEvPi"})
    cache.convert = lambda image: values
    second = compiled(cache, [name])
    assert (
        cache.calls.count("set") == 2 and second.name == first.name
    )  # the image and its names, once
    assert second.symbol_mapping == first.symbol_mapping == {name: b"_Z1gILi3EEvPi"}
    other = compiled(cache, ["g<4>"])  # the entry has another name
    assert list(other.symbol_mapping) == ["g<4>"] and cache.calls.count("set") == 4
