# SPDX-License-Identifier: Apache-2.0
"""A link keeps one of several definitions of a name."""

import ctypes

import pytest

pytestmark = pytest.mark.usefixtures("emulated")
PTX_INPUT = 1
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def variable(linkage, *values):
    return f".{linkage} .global .u32 value[{len(values)}] = {{{', '.join(map(str, values))}}};"


def common(count):
    return f".common .global .u32 value[{count}];"


def function(linkage, number):
    return f".{linkage} .entry value() {{ .reg .b32 %r<{number + 1}>; ret; }}"


def link(driver, *parts):
    """Link PTX texts; return the code, and the words of the variable `value`."""
    state, image = ctypes.c_uint64(), ctypes.c_void_p()
    assert driver.cuLinkCreate(0, None, None, ctypes.byref(state)) == 0
    for each in parts:
        text = (HEAD + each).encode() + b"\0"
        add = driver.cuLinkAddData
        assert add(state, PTX_INPUT, text, len(text), b"part.ptx", 0, None, None) == 0
    code = driver.cuLinkComplete(state, ctypes.byref(image), None)
    words = []
    if code == 0:
        module = driver.output("cuModuleLoadData", image)
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        query = ctypes.byref(address), ctypes.byref(size), module, b"value"
        if driver.cuModuleGetGlobal(*query) == 0:
            words = driver.read(address.value, size.value // 4)
        assert driver.cuModuleUnload(module) == 0
    assert driver.cuLinkDestroy(state) == 0
    return code, words


KEPT = {
    "a strong one before a weak one": ((variable("visible", 1), variable("weak", 2)), [1]),
    "a strong one after a weak one": ((variable("weak", 2), variable("visible", 1)), [1]),
    "the first of two weak ones": ((variable("weak", 2), variable("weak", 3)), [2]),
    "the larger common one, last": ((common(1), common(3)), [0, 0, 0]),
    "the larger common one, first": ((common(3), common(1)), [0, 0, 0]),
    "a strong one before a common one": ((variable("visible", 4), common(3)), [4]),
    "a strong one after a common one": ((common(3), variable("visible", 4)), [4]),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_link_keeps(driver, name):
    parts, words = KEPT[name]
    assert link(driver, *parts) == (0, words)


@pytest.mark.parametrize(
    "parts",
    [
        (variable("visible", 1), variable("visible", 1)),
        (function("visible", 1), function("visible", 2)),
        (variable("weak", 2), variable("visible", 1), variable("visible", 3)),
    ],
)
def test_two_strong_definitions_are_refused(driver, parts):
    code, words = link(driver, *parts)
    assert code != 0 and words == []
