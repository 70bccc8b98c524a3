# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges around public calls with ``HALFWARP_NVTX=1``; else nothing is loaded or wrapped.

A profiler names its library in ``NVTX_INJECTION64_PATH``, as for every program that is built with
NVTX 3; where there is none, ``libnvToolsExt`` is used if it can be found.
"""

import ctypes
import functools
import inspect
import os
import sys

PUSH, POP = 9, 11  # places of nvtxRangePushA and nvtxRangePop among the callbacks of the core
CORE_CALLBACKS, CORE_MODULE = 16, 1
CALLBACK_TABLE, VERSION_TABLE = 1, 3  # what an injection library may ask for
NVTX_VERSION = 3
OLDER_LIBRARIES = ("libnvToolsExt.so.1", "libnvToolsExt.so")
SPECIAL = frozenset({"__call__", "__enter__", "__exit__", "__dlpack__", "__sub__"})  # that do work


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get_table", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("set_version", ctypes.c_void_p),
    ]


_kept = []  # what a profiler's library may call, or write to, until the process ends


def check_variable(environment):
    """ValueError for a value that is not understood. Host only."""
    value = environment.get("HALFWARP_NVTX", "")
    if value not in ("", "0", "1"):
        raise ValueError(f"HALFWARP_NVTX={value} is not understood: it may be 0 or 1")


def connect(environment):
    """The functions that begin and end a range; None where no profiler listens. Host only."""
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
    places = (ctypes.c_void_p * (CORE_CALLBACKS + 1))()
    for number in range(1, CORE_CALLBACKS):
        places[number] = ctypes.addressof(slots) + number * ctypes.sizeof(ctypes.c_void_p)
    export = _export_table(places)
    if not initialize(export):
        print("halfwarp: no NVTX ranges: the injection library declined", file=sys.stderr)
        return None
    if not slots[PUSH] or not slots[POP]:
        return None  # it listens to other events
    push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(slots[PUSH])
    pop = ctypes.CFUNCTYPE(ctypes.c_int)(slots[POP])
    _kept.extend((library, slots, places))
    return push, pop


def _export_table(places):
    """The function that an injection library asks for the tables of NVTX."""

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
            table[0] = ctypes.addressof(places)
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
        found = {CALLBACK_TABLE: callbacks, VERSION_TABLE: version}.get(table)
        return ctypes.addressof(found) if found is not None else None

    _kept.extend((get_table, set_version, callbacks, version, export))
    return export


def ranged(call, name, push, pop):
    """A function that calls another one inside of a range. Host only."""
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
    """The public methods of a class that a range is put around, by name. Host only."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in SPECIAL:
            continue
        call = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if inspect.isroutine(call):
            yield name, member, call


def is_public_function(given):
    """Whether it is a function of ours rather than a class or something imported. Host only."""
    return inspect.isroutine(given) and str(given.__module__).startswith("cuda.core")


def wrapped(member, call, name, push, pop):
    made = ranged(call, name, push, pop)
    return type(member)(made) if isinstance(member, (staticmethod, classmethod)) else made


@functools.cache
def functions():
    """What begins and what ends a range; None where no profiler listens. Host only."""
    return connect(os.environ)
