# SPDX-License-Identifier: Apache-2.0
# Conversion of handles to objects of cuda.bindings, and of Python objects to addresses and sizes.

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


cdef object loaded_class(str module, str name):
    cls = getattr(sys.modules.get(module), name, None)
    return cls if isinstance(cls, type) else None


cdef object bindings_class_of(object value, tuple class_names):
    for path in class_names:
        module, _, name = path.partition(".")
        cls = loaded_class(f"cuda.bindings.{module}", name)
        if cls is not None and isinstance(value, cls):
            return cls
    return None


cdef uintptr_t address_from(object value) except? 0:
    if PyIndex_Check(value):
        return PyNumber_Index(value)
    if isinstance(value, float) or not hasattr(type(value), "__int__"):
        raise TypeError(f"an integer is required (got type {type(value).__name__})")
    return int(value)


cdef size_t size_from(object value, str description) except? 0:
    """Return a size in bytes; `description` names the call and its argument in messages."""
    cdef uint64_t size = 0
    if type(value) is int:  # fast path
        if integer_digits(<PyObject*>value).read_size(size):
            return size
    return size_of_other(value, description)


cdef size_t size_of_other(object value, str description) except? 0:
    if PyIndex_Check(value):
        value = PyNumber_Index(value)
    elif isinstance(value, float):
        if not value.is_integer():
            raise TypeError(f"{description} must be a whole number of bytes, got {value!r}")
        PyErr_WarnEx(DeprecationWarning, f"a size given as a float ({value!r}) is deprecated: use "
                     f"{int(value)}".encode(), 1)
        value = int(value)
    if not isinstance(value, int):
        raise TypeError(f"{description} must be a whole number of bytes, got {value!r} "
                        f"({type(value).__name__})")
    if value < 0:
        raise OverflowError(f"{description} in bytes must not be negative, got {value}")
    if value > SIZE_MAX:
        raise OverflowError(f"{description} is too large: {value} bytes exceed the address space")
    return value
