# SPDX-License-Identifier: Apache-2.0
# Handles as the low layer's Python objects, and addresses out of Python objects.

from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from libc.stdint cimport SIZE_MAX, uint64_t

cdef extern from "python/arguments/integer_digits.hpp" namespace "halfwarp::python":
    cppclass integer_digits:
        integer_digits(PyObject*) noexcept
        bint read_size(uint64_t&) noexcept

cdef dict handle_classes = {}


cdef object as_bindings(str class_name, const void* raw):
    if is_finalizing():
        return None
    cls = handle_classes.get(class_name)
    if cls is None:
        cls = getattr(import_module("cuda.bindings.driver"), class_name)
        handle_classes[class_name] = cls
    return cls(<uintptr_t>raw)


cdef uintptr_t address_from(object given) except? 0:
    if PyIndex_Check(given):
        return PyNumber_Index(given)
    if isinstance(given, float) or not hasattr(type(given), "__int__"):
        raise TypeError(f"an integer is required (got type {type(given).__name__})")
    return int(given)


cdef size_t size_from(object given, str what) except? 0:
    """A size in bytes; `what` names the call and its argument, for who gets it wrong."""
    cdef uint64_t known = 0
    if type(given) is int:  # nearly always
        if integer_digits(<PyObject*>given).read_size(known):
            return known
    return size_of_other(given, what)


cdef size_t size_of_other(object given, str what) except? 0:
    if PyIndex_Check(given):
        given = PyNumber_Index(given)
    elif isinstance(given, float):
        if not given.is_integer():
            raise TypeError(f"{what} is a whole number of bytes, got {given!r}")
        PyErr_WarnEx(DeprecationWarning, f"a size given as a float ({given!r}) is deprecated: use "
                     f"{int(given)}".encode(), 1)
        given = int(given)
    if not isinstance(given, int):
        raise TypeError(f"{what} is a whole number of bytes, got {given!r} "
                        f"({type(given).__name__})")
    if given < 0:
        raise OverflowError(f"{what} in bytes must not be negative, got {given}")
    if given > SIZE_MAX:
        raise OverflowError(f"{what} is too large: {given} bytes are more than there are addresses")
    return given
