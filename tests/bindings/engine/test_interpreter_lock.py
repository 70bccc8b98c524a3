# SPDX-License-Identifier: Apache-2.0
"""Which calls keep the interpreter lock: no call that may wait or is polled does."""

import ctypes

import pytest
from cuda.bindings import driver

from generator import libraries

from ...context_lock import RETURNS_AT_ONCE, RUNTIME_WAITS, WAITS

# Waits for a stream, submits work to one that may be full, allocates, loads a kernel, or is called
# in a loop until others have done something.
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
def keeps_lock(put_address):
    """``keeps_lock(name, arguments)``: whether a call is made under the lock.

    The function called is Python's own question whether this thread has the lock; its answer, 0 or
    1, comes back as the code.
    """
    question = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value

    def ask(name, arguments):
        put_address(name, question)
        return int(getattr(driver, name)(*arguments)[0]) == 1

    return ask


@pytest.mark.parametrize("name", RELEASES)
def test_what_waits_or_is_polled_lets_other_threads_run(keeps_lock, name):
    assert not keeps_lock(name, RELEASES[name])


@pytest.mark.parametrize("name", KEEPS)
def test_what_returns_at_once_does_not_give_the_lock_away(keeps_lock, name):
    assert keeps_lock(name, KEEPS[name])


def keepers(library):
    """The functions of a library that are called under the lock, by decision; all its functions."""
    functions = libraries.load(library).functions
    return {f.name for f in functions if not f.releases_gil}, {f.name for f in functions}


@pytest.mark.parametrize(
    ("library", "waits"), [("driver", WAITS), ("runtime", RUNTIME_WAITS)], ids=["driver", "runtime"]
)
def test_what_takes_the_lock_of_a_context_gives_ours_back(library, waits):
    """Another thread may have that one, and wait for a host function that needs ours."""
    keeping, known = keepers(library)
    assert keeping
    assert waits <= known
    assert not keeping & waits


def test_what_keeps_the_lock_was_measured():
    assert keepers("driver")[0] <= RETURNS_AT_ONCE
