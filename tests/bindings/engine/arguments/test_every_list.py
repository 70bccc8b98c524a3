# SPDX-License-Identifier: Apache-2.0
"""Each list of each function: the C array and the Python list have the same elements."""

import ctypes
import importlib

import pytest

from generator import libraries

LENGTH = 3
LIBRARIES = {name: libraries.load(name) for name in ("driver", "runtime", "nvrtc")}
NAMES_OF_STRUCTS = {s.name for library in LIBRARIES.values() for s in library.structs}


def is_list(param):
    return param.words.startswith("in:list:")


def is_list_result(param):
    return param.words.startswith("out:list:") and param.words.endswith("]")


def functions_with(is_chosen):
    chosen = []
    for name, library in LIBRARIES.items():
        for function in library.functions:
            # A list of options needs a value for each enumerator: test_attribute_values has them.
            has_options = any(":attrlist:" in p.words for p in function.params)
            if function.in_python and any(map(is_chosen, function.params)) and not has_options:
                chosen.append(pytest.param(name, function, id=function.name))
    return pytest.mark.parametrize(("library", "function"), chosen)


def struct_element(cls, number):
    """Return a struct whose bytes are all `number`: a call copies addresses without following."""
    struct = cls()
    ctypes.memset(struct.getPtr(), number, importlib.import_module(cls.__module__).sizeof(cls))
    return struct


def element(module, word, k):
    """Return an element of a list, and the bytes that represent it in the array."""
    number = k + 3
    if word == "bytes":
        return b"text %d" % number, None
    if word in ("int", "size_t", "voidp"):
        number += 1 << (24 if word == "int" else 56)
        return number, number.to_bytes(4 if word == "int" else 8, "little")
    cls = getattr(module, word)
    if word in NAMES_OF_STRUCTS:
        struct = struct_element(cls, number)
        return struct, ctypes.string_at(struct.getPtr(), module.sizeof(cls))
    if hasattr(cls, "__members__"):
        member = list(cls)[k]
        return member, int(member).to_bytes(4, "little", signed=True)
    number += 1 << 56
    return cls(number), number.to_bytes(8, "little")


def other_argument(module, param, counts):
    _, _, name = param.words.rpartition(":")
    if param.name in counts or param.c_name in counts:
        return LENGTH
    if ":struct" in param.words or ":iterator:" in param.words:
        return getattr(module, name)()
    if ":enum:" in param.words:
        return next(iter(getattr(module, name)))
    if ":bytes" in param.words:
        return b""
    return None if "list5" in param.words or "voidp" in param.words else 0


def call(module, function, arguments):
    names = [name.partition("=")[0] for name in function.py]
    return getattr(module, function.name)(*(arguments[name] for name in names))


@functions_with(is_list)
def test_a_list_becomes_an_array_of_all_elements(put, library, function):
    module = importlib.import_module(f"cuda.bindings.{library}")
    counts = {p.aux for p in function.params if is_list(p)}
    arguments, expected, seen = {}, {}, {}
    for at, param in enumerate(function.params):
        if is_list(param):
            word = param.words.rpartition(":")[2]
            pairs = [element(module, word, k) for k in range(LENGTH)]
            arguments[param.name] = [value for value, _ in pairs]
            expected[at] = pairs
        else:
            arguments[param.name] = other_argument(module, param, counts)

    def receive(*words):
        for at, pairs in expected.items():
            if pairs[0][1] is None:
                seen[at] = list((ctypes.c_char_p * LENGTH).from_address(words[at]))
            else:
                seen[at] = ctypes.string_at(words[at], LENGTH * len(pairs[0][1]))

    put(function.name, receive, *[ctypes.c_void_p] * len(function.params))
    assert int(call(module, function, arguments)[0]) == 0
    for at, pairs in expected.items():
        is_text = pairs[0][1] is None
        data = [own if is_text else data for own, data in pairs]
        assert seen[at] == (data if is_text else b"".join(data))


def size_of(module, word):
    if word in ("int", "unsigned int"):
        return 4
    cls = getattr(module, word)
    if word in NAMES_OF_STRUCTS:
        return module.sizeof(cls)
    return 4 if word == "CUdevice" else 8


@functions_with(is_list_result)
def test_an_array_becomes_a_list_of_all_elements(put, library, function):
    module = importlib.import_module(f"cuda.bindings.{library}")
    counts = {p.aux for p in function.params if is_list_result(p)}
    words_of = {
        at: p.words.rpartition(":")[2].partition("[")[0]
        for at, p in enumerate(function.params)
        if is_list_result(p)
    }
    arguments = {}
    for param in function.params:
        word = param.words.rpartition(":")[2]
        arguments[param.name] = (
            [element(module, word, k)[0] for k in range(LENGTH)]
            if is_list(param)
            else other_argument(module, param, counts)
        )

    def fill(*words):
        for at, word in words_of.items():
            size = size_of(module, word)
            for k in range(LENGTH):
                ctypes.memset(words[at] + k * size, k + 3, size)

    put(function.name, fill, *[ctypes.c_void_p] * len(function.params))
    result = call(module, function, arguments)
    assert int(result[0]) == 0
    for at, word in words_of.items():
        values = result[1 + function.returns.index(function.params[at].name)]
        size = size_of(module, word)
        assert len(values) == LENGTH
        for k, value in enumerate(values):
            if word in NAMES_OF_STRUCTS:
                assert ctypes.string_at(value.getPtr(), size) == bytes([k + 3]) * size
            else:
                assert int(value) == int.from_bytes(bytes([k + 3]) * size, "little")
