# SPDX-License-Identifier: Apache-2.0
"""Each allocation of each constructor fails once: an exception, no crash, no leak."""

import functools

import pytest

from .child_programs import FOLDER, failures_of

pytest.importorskip("_testcapi", reason="the hooks of CPython's allocators")
PROGRAM = FOLDER / "failed_allocations.py"
SAMPLE = ("Buffer", "Graph", "KernelNode", "PoolMemoryResource", "Stream", "build_and_end")


run = functools.partial(failures_of, timeout=900)


def test_constructors_survive_a_failed_allocation():
    assert run(PROGRAM, "--names", *SAMPLE) == []


@pytest.mark.slow
def test_all_constructors_survive_a_failed_allocation():
    assert run(PROGRAM) == []


FAULTY = """
import ctypes, failed_allocations

def crash(world):
    try:
        return bytearray(100)
    except MemoryError:
        ctypes.string_at(8)

def hide(world):
    try:
        return bytearray(100)
    except MemoryError:
        raise KeyError("of a check") from None

def leak(world):
    buffer = world.device.allocate(64, stream=world.stream)
    leaked.append(buffer)

leaked = []
for function in (crash, hide, leak):
    failed_allocations.CALLS[function.__name__] = function
    print(*failed_allocations.failures_of(function.__name__), sep="\\n")
"""


def test_failures_are_reported():
    failures = "\n".join(run("-c", FAULTY))
    assert "crash: allocation 0: killed by SIGSEGV" in failures
    assert "hide: allocation 0: KeyError: 'of a check'" in failures
    assert "objects remain on the emulator" in failures
