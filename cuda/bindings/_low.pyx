# SPDX-License-Identifier: Apache-2.0
# cython: binding=False
# (functions without code objects save a tenth of the import time)
"""Modules of ``cuda.bindings`` from tables, and the loader of the libraries.

Both are in one extension, so that importing any module opens one file.
"""

import atexit
import os
import sys

include "_internal/loader.pyx"
include "_internal/call_sites.pyx"


cdef extern from "bindings/module/low.hpp":
    int low_attach(const loader_api* loader) except -1
    int low_fill(object module) except -1
    object low_fast_enum()
    object low_fast_enum_metaclass()
    object low_struct_from_bytes(object type, object contents)
    object low_native_handle(object)
    object low_new_query(object parts)
    object low_query_property(object query, object cls, object name)
    const void* low_exit_gate()
    const char* low_exit_gate_capsule()
    void low_close_exit_gate()
    void low_after_fork()


def fill(str module_name not None):
    """Fill the module of a library, which must be in ``sys.modules``, from its tables.

    Host only. Each function is created on first use; all classes, enumerations and constants when
    the first of them is used.
    """
    low_fill(sys.modules[module_name])


def struct_from_bytes(cls, contents):
    """Create a struct object from its bytes. Host only. Used by ``pickle``."""
    return low_struct_from_bytes(cls, contents)


def native_handle(obj):
    """Value of an opaque handle object as an int; None for any other object. Host only."""
    return low_native_handle(obj)


def new_query(tuple parts not None):
    """Create a member that asks NVML. Host only. Used by `cuda.core.system`."""
    if not is_query(parts):
        raise TypeError(f"{parts!r} are not the parts of a query")
    return low_new_query(parts)


cdef bint is_query(tuple parts) except -1:
    """Return whether a tuple has the parts that objects/queries.hpp describes."""
    if len(parts) != 3 and len(parts) != 6:
        return False
    sources, name = parts[1], parts[2]
    if not isinstance(sources, tuple) or not 1 <= len(sources) <= 3:
        return False
    if len(parts) == 3:
        return isinstance(sources[0], str) and isinstance(name, str)
    cls, target = parts[4:]
    return ((name is None or isinstance(name, str))
            and (cls is None or isinstance(cls, type) and isinstance(target, str)))


def query_property(query, cls, str name not None):
    """Create the property of a class that makes a query; None without one. Host only."""
    return low_query_property(query, cls, name)


def fast_enum():
    """Base class of all enumerations, and its metaclass. Host only."""
    return low_fast_enum(), low_fast_enum_metaclass()


def close_exit_gate():
    """Wait for running callbacks and compilations, and admit no new ones. Blocks the host."""
    low_close_exit_gate()


def after_fork():
    """Reset, in a forked child process, the locks of other threads of the parent. Host only."""
    low_after_fork()


low_attach(loader_interface())
_exit_gate = PyCapsule_New(<void*>low_exit_gate(), low_exit_gate_capsule(), NULL)
atexit.register(close_exit_gate)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
