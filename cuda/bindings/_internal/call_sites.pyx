# SPDX-License-Identifier: Apache-2.0
# Names the user's source line of each driver call for the reports of the emulator.

from cpython.exc cimport PyErr_Fetch, PyErr_Restore
from cpython.ref cimport PyObject
from libc.string cimport memcpy

import atexit
import os
import sys

ctypedef int (*call_site_source)(char*, int) noexcept
ctypedef void (*source_setter)(call_site_source) noexcept nogil

cdef str PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


cdef void trace_call_sites() noexcept:
    """Install the source if the options of the emulator need call sites."""
    checks = os.environ.get("HALFWARP_EMULATOR_CHECK", "").split(",")
    traces = os.environ.get("HALFWARP_EMULATOR_TRACE", "").split(",")
    if {"hazard", "all"}.isdisjoint(checks) and {"site", "all"}.isdisjoint(traces):
        return
    set_source = <source_setter>loader_emulator_symbol(SETTER)
    if set_source is not NULL:
        set_source(write_call_site)
        atexit.register(end_call_sites)  # the driver is called until the process ends


def end_call_sites():
    """Remove the source. Host only."""
    (<source_setter>loader_emulator_symbol(SETTER))(NULL)


cdef const char* SETTER = "halfwarp_emulator_set_call_site_source"


cdef int write_call_site(char* text, int size) noexcept with gil:
    """Write the innermost frame outside this package; return its length.

    The cleanup after an exception calls the driver too, so an exception may be set.
    """
    cdef PyObject* kind = NULL
    cdef PyObject* value = NULL
    cdef PyObject* trace = NULL
    cdef int length
    PyErr_Fetch(&kind, &value, &trace)
    length = write_user_frame(text, size)
    PyErr_Restore(kind, value, trace)
    return length


cdef int write_user_frame(char* text, int size) noexcept:
    try:
        frame = sys._getframe(0)
    except ValueError:  # a thread without Python code
        return 0
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if frame is None:
        return 0
    site = f"{frame.f_code.co_filename}:{frame.f_lineno}".encode("utf-8", "replace")[:size - 1]
    memcpy(text, <const char*>site, len(site))
    return len(site)
