# SPDX-License-Identifier: Apache-2.0
"""The observer of compilations, by which the coverage of kernels learns of programs."""

import ctypes
import json

import pytest
from cuda.core import Device, NVRTCError, Program, emulation
from cuda.core.emulation import library

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="an observer of the emulator")
KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)


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


def test_a_failed_compilation_is_not_observed(compilations):
    with pytest.raises(NVRTCError):
        Program("__global__ void f({}", "c++").compile("ptx")
    assert compilations == []
