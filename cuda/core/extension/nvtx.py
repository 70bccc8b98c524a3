# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges around public calls with ``HALFWARP_NVTX=1``; otherwise nothing is loaded or wrapped.

A profiler sets ``NVTX_INJECTION64_PATH`` to its library, as for every program built with NVTX 3.
Without the variable, ``libnvToolsExt`` is used if it is installed.
"""

import ctypes
import functools
import inspect
import os
import sys

PUSH, POP = 9, 11  # indices of nvtxRangePushA and nvtxRangePop in the core callback table
CORE_CALLBACKS, CORE_MODULE = 16, 1
CALLBACK_TABLE, VERSION_TABLE = 1, 3  # ids of the exported tables
NVTX_VERSION = 3
OLDER_LIBRARIES = ("libnvToolsExt.so.1", "libnvToolsExt.so")
SPECIAL = frozenset({"__call__", "__enter__", "__exit__", "__dlpack__", "__sub__"})  # get ranges


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get_table", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("set_version", ctypes.c_void_p),
    ]


_referents = []  # objects that a profiler's library may use until the process exits


def connect(environment):
    """Return the functions that begin and end a range; None without a profiler. Host only."""
    path = environment.get("NVTX_INJECTION64_PATH")
    if path:
        return _connect_injection(path)
    for name in OLDER_LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            return library.nvtxRangePushA, library.nvtxRangePop
        except (OSError, AttributeError):
            continue
    return None


def _connect_injection(path):
    try:
        library = ctypes.CDLL(path)
        initialize = library.InitializeInjectionNvtx2
    except (OSError, AttributeError) as error:
        print(f"halfwarp: no NVTX ranges: NVTX_INJECTION64_PATH: {error}", file=sys.stderr)
        return None
    slots = (ctypes.c_void_p * CORE_CALLBACKS)()
    slot_addresses = (ctypes.c_void_p * (CORE_CALLBACKS + 1))()
    for number in range(1, CORE_CALLBACKS):
        slot_addresses[number] = ctypes.addressof(slots) + number * ctypes.sizeof(ctypes.c_void_p)
    export = _export_table(slot_addresses)
    if not initialize(export):
        print("halfwarp: no NVTX ranges: the injection library declined", file=sys.stderr)
        return None
    if not slots[PUSH] or not slots[POP]:
        return None  # the profiler does not record push and pop
    push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(slots[PUSH])
    pop = ctypes.CFUNCTYPE(ctypes.c_int)(slots[POP])
    _referents.extend((library, slots, slot_addresses))
    return push, pop


def _export_table(slot_addresses):
    """Create the function that returns the NVTX tables to an injection library."""

    @ctypes.CFUNCTYPE(
        ctypes.c_int,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(ctypes.c_uint),
    )
    def get_table(module, table, size):
        if module != CORE_MODULE:
            return 0
        if table:
            table[0] = ctypes.addressof(slot_addresses)
        if size:
            size[0] = CORE_CALLBACKS
        return 1

    @ctypes.CFUNCTYPE(None, ctypes.c_uint32)
    def set_version(version):
        return None

    callbacks = _Callbacks(ctypes.sizeof(_Callbacks), ctypes.cast(get_table, ctypes.c_void_p))
    version = _Version(
        ctypes.sizeof(_Version), NVTX_VERSION, 0, ctypes.cast(set_version, ctypes.c_void_p)
    )

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
    def export(table):
        exported = {CALLBACK_TABLE: callbacks, VERSION_TABLE: version}.get(table)
        return ctypes.addressof(exported) if exported is not None else None

    _referents.extend((get_table, set_version, callbacks, version, export))
    return export


def wrap_in_range(call, name, push, pop):
    """Wrap a function in a range. Host only."""
    text = name.encode()

    @functools.wraps(call)
    def in_range(*args, **kwargs):
        push(text)
        try:
            return call(*args, **kwargs)
        finally:
            pop()

    return in_range


def members(cls):
    """Yield name, member and function of the methods of a class that get ranges. Host only."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in SPECIAL:
            continue
        call = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if inspect.isroutine(call):
            yield name, member, call


def is_public_function(value):
    """Return whether the value is a function of cuda.core. Host only."""
    return inspect.isroutine(value) and str(value.__module__).startswith("cuda.core")


def wrap_member(member, call, name, push, pop):
    range_function = wrap_in_range(call, name, push, pop)
    is_wrapper = isinstance(member, (staticmethod, classmethod))
    return type(member)(range_function) if is_wrapper else range_function


@functools.cache
def range_functions():
    """Return the functions that begin and end a range, found once. Host only."""
    return connect(os.environ)
