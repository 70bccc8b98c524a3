# SPDX-License-Identifier: Apache-2.0
"""Calls that keep the GIL: none that may wait or that is polled."""

import ctypes

import pytest
from cuda.bindings import driver

from generator import libraries

from ...context_lock import RETURNS_AT_ONCE, RUNTIME_WAITS, WAITS

# Waits for a stream, submits work to one that may be full, allocates, loads a kernel, or is polled
# until another thread makes progress.
RELEASES = {
    "cuCtxSynchronize": (),
    "cuStreamSynchronize": (0,),
    "cuEventSynchronize": (0,),
    "cuEventRecord": (0, 0),
    "cuStreamWaitEvent": (0, 0, 0),
    "cuLaunchKernel": (0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0),
    "cuMemAllocAsync": (1, 0),
    "cuMemFreeAsync": (0, 0),
    "cuMemcpyHtoD": (0, bytes(4), 4),
    "cuFuncGetAttribute": (0, 0),
    "cuStreamQuery": (0,),
    "cuEventQuery": (0,),
}
KEEPS = {
    "cuCtxGetCurrent": (),
    "cuCtxSetCurrent": (0,),
    "cuDeviceGetAttribute": (1, 0),
    "cuStreamIsCapturing": (0,),
}


@pytest.fixture
def keeps_gil(put_address):
    """``keeps_gil(name, arguments)``: whether a call is made with the GIL held. The slot holds
    CPython's own check for the GIL; its result, 0 or 1, is returned as the code."""
    question = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value

    def ask(name, arguments):
        put_address(name, question)
        return int(getattr(driver, name)(*arguments)[0]) == 1

    return ask


@pytest.mark.parametrize("name", RELEASES)
def test_waiting_and_polled_calls_release_the_gil(keeps_gil, name):
    assert not keeps_gil(name, RELEASES[name])


@pytest.mark.parametrize("name", KEEPS)
def test_calls_that_return_at_once_keep_the_gil(keeps_gil, name):
    assert keeps_gil(name, KEEPS[name])


def functions_with_gil(library):
    """Return the functions of a library that are decided to keep the GIL, and all its functions."""
    functions = libraries.load(library).functions
    return {f.name for f in functions if not f.releases_gil}, {f.name for f in functions}


@pytest.mark.parametrize(
    ("library", "waits"), [("driver", WAITS), ("runtime", RUNTIME_WAITS)], ids=["driver", "runtime"]
)
def test_calls_that_acquire_a_context_lock_release_the_gil(library, waits):
    """Another thread may hold that lock and wait for a callback that needs the GIL."""
    keeping, known = functions_with_gil(library)
    assert keeping
    assert waits <= known
    assert not keeping & waits


def test_every_function_that_keeps_the_gil_was_measured():
    assert functions_with_gil("driver")[0] <= RETURNS_AT_ONCE
