# SPDX-License-Identifier: Apache-2.0
"""C libraries of Python functions: the slots of a function table can be replaced."""

import ctypes
from functools import cache


@cache
def table_address(library):
    """Return the address of a library's function table, from the loader's capsule."""
    from cuda.bindings import _low

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    api = get(_low._api, b"cuda.bindings._low._api")
    table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p).from_address(api)
    return table(library.encode())


@cache
def slots(library):
    """Map each C function to its slot, whose value can be set."""
    from generator import libraries

    first, size = table_address(library), ctypes.sizeof(ctypes.c_void_p)
    functions = libraries.load(library).functions
    return {f.name: ctypes.c_void_p.from_address(first + size * i) for i, f in enumerate(functions)}


@cache
def slot(function):
    """Return the slot of a C function of any library."""
    from generator import libraries

    owners = (library for library in libraries.library_names() if function in slots(library))
    return slots(next(owners))[function]


class Replacements:
    """Python functions in place of C functions, until `undo`."""

    def __init__(self):
        self.earlier, self.callbacks = [], []

    def put_address(self, name, address):
        """Redirect calls of the C function `name` to another C function."""
        replaced = slot(name)
        self.earlier.append((replaced, replaced.value))
        replaced.value = address

    def put(self, name, function, *types, result=ctypes.c_int):
        """Redirect calls of the C function `name` to a Python function.

        The types are the ctypes of the C parameters; the function returns the code, or None for
        success.
        """
        callback = ctypes.CFUNCTYPE(result, *types)(lambda *args: function(*args) or 0)
        self.callbacks.append(callback)
        self.put_address(name, ctypes.cast(callback, ctypes.c_void_p).value)

    def undo(self):
        for replaced, value in reversed(self.earlier):
            replaced.value = value
