# SPDX-License-Identifier: Apache-2.0
# What happens once, when the extension is imported.

from cpython.pycapsule cimport PyCapsule_GetPointer

import atexit
import os

from cuda.bindings import _low


cdef extern from "python/host_call.hpp" namespace "halfwarp::python":
    void stop_host_calls() noexcept


cdef extern from "python/lock/lock_in_cython.hpp":
    pass


cdef extern from "python/lock/interpreter_lock.hpp" namespace "halfwarp::python":
    void attach_interpreter_lock() noexcept


attach_interpreter_lock()
attach_driver(<const loader_api*>PyCapsule_GetPointer(_low._api, HALFWARP_LOADER_CAPSULE))


def _after_fork():
    """In the child: the objects of the parent are its own to destroy."""
    after_fork_in_child()


def _before_exit():
    """Before the interpreter goes: no host call may be left in the middle."""
    set_exiting(True)
    stop_host_calls()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_before_exit)
