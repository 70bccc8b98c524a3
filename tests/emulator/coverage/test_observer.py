# SPDX-License-Identifier: Apache-2.0
"""The observer of compilations, by which the coverage of kernels learns of programs."""

import ctypes
import json

import pytest
from cuda.bindings import nvrtc
from cuda.core import Device, NVRTCError, Program, emulation
from cuda.core.emulation import library

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="an observer of the emulator")
KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)


def ok(result):
    code, *outputs = result
    assert code == 0, code
    return outputs[0] if outputs else None


@pytest.fixture
def compilations():
    """Return the list of the compilations that an observer receives."""
    Device(0).set_current()
    received = []

    @KIND
    def observer(address, size):
        received.append(json.loads(ctypes.string_at(address, size)))

    emulator = library.load()
    emulator.halfwarp_emulator_observe_compiles(observer)
    yield received
    emulator.halfwarp_emulator_observe_compiles(KIND())


def test_a_compilation_is_observed_with_its_text_and_its_ptx(compilations):
    text = 'extern "C" __global__ void f() {}'
    Program(text, "c++").compile("ptx")
    (compilation,) = compilations
    assert compilation["text"] == text and ".entry f" in compilation["ptx"]


def test_all_arguments_of_a_program_are_observed(compilations):
    text = b'#include "a.h"\ntemplate <class T> __global__ void f(T*) { int value = A; }'
    headers, names = (b"#define A 1", b"#define B 2"), (b"a.h", b"b.h")
    program = ok(nvrtc.nvrtcCreateProgram(text, b"named.cu", 2, headers, names))
    expressions = [b"f<int>", b"f<float>"]
    for each in expressions:
        ok(nvrtc.nvrtcAddNameExpression(program, each))
    options = [b"--std=c++17", b"-DUNUSED"]
    ok(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ok(nvrtc.nvrtcDestroyProgram(program))
    (compilation,) = compilations
    assert compilation.pop("ptx").count(".entry") == 2
    assert compilation == {
        "text": text.decode(),
        "name": "named.cu",
        "headers": [["a.h", "#define A 1"], ["b.h", "#define B 2"]],
        "expressions": ["f<int>", "f<float>"],
        "options": ["--std=c++17", "-DUNUSED"],
    }


def test_a_failed_compilation_is_not_observed(compilations):
    with pytest.raises(NVRTCError):
        Program("__global__ void f({}", "c++").compile("ptx")
    assert compilations == []
