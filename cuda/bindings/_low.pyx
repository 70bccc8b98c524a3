# SPDX-License-Identifier: Apache-2.0
"""The engine behind ``cuda.bindings.driver`` and its siblings: all they offer, from tables."""

import atexit
import os
import sys

# a capsule is found only in modules that are imported already
import cuda.bindings._loader  # no-cython-lint

from cuda.bindings._loader cimport import_loader, loader_api


cdef extern from "bindings/low.hpp":
    int low_attach(const loader_api* loader) except -1
    int low_fill(object module) except -1
    object low_fast_enum()
    object low_fast_enum_metaclass()
    object low_struct_from_bytes(object type, object contents)
    object low_native_handle(object)
    void low_stop_callbacks()
    void low_after_fork()


def fill(str module_name not None):
    """Put the functions of a library into its module, which must be imported or being imported.

    Host only. Classes, enumerations and constants follow when the first of them is asked for.
    """
    low_fill(sys.modules[module_name])


def struct_from_bytes(cls, contents):
    """Make a struct object with the given contents. Host only. Used by ``pickle``."""
    return low_struct_from_bytes(cls, contents)


def native_handle(obj):
    """Value of an opaque handle object as an int; None for anything else. Host only."""
    return low_native_handle(obj)


def stop_callbacks():
    """Wait for the callbacks that run, and let no more into the interpreter. Blocks the host."""
    low_stop_callbacks()


def after_fork():
    """Let go of what other threads held when the process was forked. Host only."""
    low_after_fork()


low_attach(import_loader())
atexit.register(stop_callbacks)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
FastEnum = low_fast_enum()
FastEnumMetaclass = low_fast_enum_metaclass()
