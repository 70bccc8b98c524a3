# SPDX-License-Identifier: Apache-2.0
# cython: binding=False
# (functions without code objects: a tenth of the time of the import)
"""What ``cuda.bindings.driver`` and its siblings offer, from tables, and the libraries behind it.

One extension has both, so that importing any of them opens one file.
"""

import atexit
import os
import sys

include "_internal/loader.pyx"


cdef extern from "bindings/module/low.hpp":
    int low_attach(const loader_api* loader) except -1
    int low_fill(object module) except -1
    object low_fast_enum()
    object low_fast_enum_metaclass()
    object low_struct_from_bytes(object type, object contents)
    object low_native_handle(object)
    const void* low_exit_gate()
    const char* low_exit_gate_capsule()
    void low_close_exit_gate()
    void low_after_fork()


def fill(str module_name not None):
    """Make the module of a library, which must be imported or being imported, find its names.

    Host only. Each function is made when it is asked for; classes, enumerations and constants all
    when the first of them is.
    """
    low_fill(sys.modules[module_name])


def struct_from_bytes(cls, contents):
    """Make a struct object with the given contents. Host only. Used by ``pickle``."""
    return low_struct_from_bytes(cls, contents)


def native_handle(obj):
    """Value of an opaque handle object as an int; None for anything else. Host only."""
    return low_native_handle(obj)


def fast_enum():
    """The base class of all enumerations, and its metaclass. Host only."""
    return low_fast_enum(), low_fast_enum_metaclass()


def close_exit_gate():
    """Wait for callbacks and compilations that run, and let no more begin. Blocks the host."""
    low_close_exit_gate()


def after_fork():
    """Let go of what other threads held when the process was forked. Host only."""
    low_after_fork()


low_attach(loader_interface())
_exit_gate = PyCapsule_New(<void*>low_exit_gate(), low_exit_gate_capsule(), NULL)
atexit.register(close_exit_gate)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
