# SPDX-License-Identifier: Apache-2.0
# Conversion of handles to objects of cuda.bindings, and of Python objects to addresses.

from libc.stdint cimport UINTPTR_MAX, uintptr_t

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
    number = integer_or_none(value)
    if number is None:
        number = number_of_handle(value)
    try:
        return number
    except OverflowError:
        raise OverflowError("an address, or a handle as an int, must be from 0 to "
                            f"{<uintptr_t>UINTPTR_MAX}, got {number}") from None


cdef object number_of_handle(object value):
    if isinstance(value, float) or not hasattr(type(value), "__int__"):
        raise TypeError(f"an integer is required (got type {type(value).__name__}): the address, "
                        "or the handle as an int")
    return int(value)
