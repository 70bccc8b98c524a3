# SPDX-License-Identifier: Apache-2.0
# The importer of the array interfaces of CUDA and NumPy, for buffers, views and kernel arguments.

from cpython.unicode cimport PyUnicode_GET_LENGTH, PyUnicode_READ_CHAR
from libc.stdint cimport UINTPTR_MAX


cdef object interface_entry(dict interface, str key, str name):
    entry = interface.get(key)
    if entry is None:
        raise BufferError(f"{name} has no entry {key!r}")
    return entry


cdef dict checked_interface(object value, object producer, str name, str protocol):
    """Return the dictionary if its version is supported and it has no mask."""
    if value is None:
        raise BufferError(f"the input object does not support any data exchange protocol of this "
                          f"kind: {qualified_name(producer)} has no {name}")
    if not isinstance(value, dict):
        raise BufferError(f"{name} of {qualified_name(producer)} must be a dict, got "
                          f"{qualified_name(value)}")
    interface = <dict>value
    version = interface_entry(interface, "version", name)
    number = integer_or_none(version)
    if number is None or number < 3:
        raise BufferError(f"only {protocol} v3 or above is supported, got version {shown(version)}")
    if interface.get("mask") is not None:
        raise BufferError("mask is not supported")
    return interface


cdef uintptr_t interface_address(dict interface, str name, bint* is_readonly) except? 1:
    """Return the address of the entry `data`, and set its read-only flag."""
    data = interface_entry(interface, "data", name)
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise TypeError(f"the data of {name} must be a tuple of address and read-only flag, got "
                        f"{shown(data)}")
    address, flag = data
    is_readonly[0] = flag if isinstance(flag, int) else option_checks().truth(
        f"the read-only flag of {name}", flag)
    if address is None:
        return 0
    return address_option("the address of the data", name, address)


cdef tuple interface_shape(dict interface, str name):
    shape = interface_entry(interface, "shape", name)
    if not isinstance(shape, tuple):
        raise TypeError(f"Expected tuple, got {type(shape).__name__}: the shape of {name}")
    return <tuple>shape


cdef object interface_strides(dict interface, str name):
    strides = interface.get("strides")
    if strides is not None and not isinstance(strides, tuple):
        raise TypeError(f"Expected tuple, got {type(strides).__name__}: the strides of {name}")
    return strides


cdef tuple interface_numbers(object values, str name):
    return tuple([as_int(name, value) for value in values])


cdef object interface_stream(dict interface):
    """Return the stream of the producer as an int, or None."""
    producer = interface.get("stream")
    if producer is None:
        return None
    number = as_int("the stream of __cuda_array_interface__", producer)
    if not 0 <= number <= <uintptr_t>UINTPTR_MAX:
        raise BufferError(f"the array interface names stream {number}: a stream is an address, 1 "
                          "or 2")
    if number == 0:
        raise BufferError("the array interface names stream 0, which is ambiguous: 1 is the legacy "
                          "default stream, 2 the per-thread one")
    return number


cdef pointer_facts interface_memory(uintptr_t address) except *:
    """Return the properties of device-accessible memory of `__cuda_array_interface__`."""
    cdef pointer_facts facts = classify_pointer(address)
    if not facts.is_device_accessible:
        raise BufferError(f"__cuda_array_interface__ names address {address:#x}, which is neither "
                          "device memory nor known to the driver")
    return facts


cdef int array_address(object producer, uint64_t* address) except -1:
    """Set the address of an array for a kernel, without stream order; 1 for host memory."""
    cdef bint is_readonly = False
    name = "__cuda_array_interface__"
    try:
        value = producer.__cuda_array_interface__
    except AttributeError:  # what libraries raise for arrays in host memory
        return 1
    interface = checked_interface(value, producer, name, "CUDA Array Interface")
    address[0] = interface_address(interface, name, &is_readonly)


cdef int read_typestr(object typestr, data_type* element) except 0:
    """Return the element size of a typestr, and set the DLPack element type if there is one."""
    cdef Py_ssize_t position = 2
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(typestr) if isinstance(typestr, str) else 0
    cdef Py_UCS4 order, kind
    cdef int64_t size = 0
    if length < 2:
        raise TypeError(f"data type {shown(typestr)} not understood: a typestr is a str like '<f4'")
    order, kind = PyUnicode_READ_CHAR(typestr, 0), PyUnicode_READ_CHAR(typestr, 1)
    while (position < length and size < 1 << 28
           and u"0" <= PyUnicode_READ_CHAR(typestr, position) <= u"9"):
        size = 10 * size + <int>PyUnicode_READ_CHAR(typestr, position) - <int>u"0"
        position += 1
    if kind == u"U":
        size *= 4
    elif kind == u"O" and size == 0:
        size = sizeof(void*)
    is_known = order in u"<>|=" and kind in u"tbiufcmMOSUV" and size > 0 and size < 1 << 28
    if not is_known or (position < length and kind not in u"mM"):
        raise TypeError(f"data type {shown(typestr)} not understood: a typestr is a str like '<f4'")
    element.bits = 0
    if order != u">" or size == 1:
        set_element_of_kind(kind, <int>size, element)
    return <int>size


cdef void set_element_of_kind(Py_UCS4 kind, int size, data_type* element) except *:
    cdef bint is_real = kind == u"i" or kind == u"u"
    if is_real and (size == 1 or size == 2 or size == 4 or size == 8):
        element.code = kind == u"u"
    elif kind == u"f" and (size == 2 or size == 4 or size == 8):
        element.code = 2
    elif kind == u"c" and (size == 8 or size == 16):
        element.code = 5
    elif kind == u"b" and size == 1:
        element.code = 6
    else:
        return
    element.bits, element.lanes = 8 * size, 1
