# SPDX-License-Identifier: Apache-2.0
"""Each list of each function: the C array holds the bytes of all elements, side by side."""

import ctypes
import importlib

import pytest

from generator import libraries

LENGTH = 3
LIBRARIES = {name: libraries.load(name) for name in ("driver", "runtime", "nvrtc")}
NAMES_OF_STRUCTS = {s.name for library in LIBRARIES.values() for s in library.structs}


def is_list(param):
    return param.words.startswith("in:list:")


def lists():
    for name, library in LIBRARIES.items():
        for function in library.functions:
            # A list of options needs a value for each enumerator: test_attribute_values has them.
            has_options = any(":attrlist:" in p.words for p in function.params)
            if function.in_python and any(map(is_list, function.params)) and not has_options:
                yield pytest.param(name, function, id=function.name)


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


@pytest.mark.parametrize(("library", "function"), [*lists()])
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
    result = getattr(module, function.name)(
        *(arguments[name] for name in (p.partition("=")[0] for p in function.py))
    )
    assert int(result[0]) == 0
    for at, pairs in expected.items():
        is_text = pairs[0][1] is None
        data = [own if is_text else data for own, data in pairs]
        assert seen[at] == (data if is_text else b"".join(data))
