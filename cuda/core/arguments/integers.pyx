# SPDX-License-Identifier: Apache-2.0
# Conversion of integer options and sizes.

from cpython.number cimport PyNumber_Index
from libc.limits cimport INT_MAX, INT_MIN
from libc.stdint cimport SIZE_MAX, UINT64_MAX, int64_t, uint64_t

cdef extern from "python/arguments/integer_digits.hpp" namespace "halfwarp::python":
    cppclass integer_digits:
        integer_digits(PyObject*) noexcept
        bint read_size(uint64_t&) noexcept


cdef str shown(object value):
    return import_module("cuda.core.arguments.shown").shown(value)


cdef object integer_or_none(object value):
    """Return a plain int; None if the value is no integer, such as an array with elements."""
    if type(value) is int:  # fast path
        return value
    if not PyIndex_Check(value):
        return None
    try:
        return PyNumber_Index(value)
    except TypeError:
        return None


cdef object as_int(str name, object value):
    number = integer_or_none(value)
    if number is None:
        raise TypeError(f"{name} must be an int, got {shown(value)} ({type(value).__name__})")
    return number


cdef object whole_number(object value):
    """Return an int for an integer and, with a warning, for a whole float; else None."""
    if isinstance(value, float) and value.is_integer():
        PyErr_WarnEx(DeprecationWarning, f"an integer given as a float ({shown(value)}) is "
                     f"deprecated: use {int(value)}".encode(), 1)
        return int(value)
    return integer_or_none(value)


cdef int64_t int_option(str name, object value, int64_t minimum=INT_MIN,
                        int64_t maximum=INT_MAX) except? -1:
    number = whole_number(value)
    if number is None:
        number = as_int(name, value)  # raises
    return in_range(name, number, minimum, maximum)


cdef object in_range(str name, object number, object minimum, object maximum):
    if not minimum <= number <= maximum:
        raise OverflowError(f"{name} must be from {minimum} to {maximum}, got {number}")
    return number


cdef uint64_t address_option(str name, str owner, object value) except? 1:
    cdef uint64_t address = 0
    if type(value) is int and integer_digits(<PyObject*>value).read_size(address):  # fast path
        return address
    name = f"{name} of {owner}"
    return in_range(name, as_int(name, value), 0, UINT64_MAX)


cdef size_t size_from(object value, str description) except? 0:
    """Return a size in bytes; `description` names the call and its argument in messages."""
    cdef uint64_t size = 0
    if type(value) is int:  # fast path
        if integer_digits(<PyObject*>value).read_size(size):
            return size
    return size_of_other(value, description)


cdef size_t size_of_other(object value, str description) except? 0:
    number = whole_number(value)
    if number is None:
        type_name = "" if isinstance(value, float) else f" ({type(value).__name__})"
        raise TypeError(f"{description} must be a whole number of bytes, got {shown(value)}"
                        f"{type_name}")
    if number < 0:
        raise OverflowError(f"{description} in bytes must not be negative, got {number}")
    if number > SIZE_MAX:
        raise OverflowError(f"{description} is too large: {number} bytes exceed the address space")
    return number
