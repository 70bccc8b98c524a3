# SPDX-License-Identifier: Apache-2.0
# Import and export through the array interfaces of CUDA and NumPy.

from cuda.core._core cimport classify_pointer, pointer_facts


cdef object no_protocol_error(object obj):
    return BufferError(f"the input object does not support any data exchange protocol: "
                       f"{type_name(obj)} has neither __dlpack__ and __dlpack_device__ nor "
                       "__cuda_array_interface__")


cdef inline object entry_of(dict interface, str key):
    """Return the entry, or None."""
    cdef PyObject* entry = PyDict_GetItemWithError(interface, key)
    return <object>entry if entry is not NULL else None


cdef object interface_or_none(object obj, str name):
    return getattr(obj, name, None)


cdef object required(dict interface, str key, str name):
    found = entry_of(interface, key)
    if found is None:
        raise BufferError(f"{name} has no entry {key!r}")
    return found


cdef dict check_interface(object value, object obj, str name, str protocol):
    """Return the dictionary if its version is supported and it has no mask."""
    if value is None:
        raise BufferError(f"the input object does not support any data exchange protocol of this "
                          f"kind: {type_name(obj)} has no {name}")
    if not isinstance(value, dict):
        raise BufferError(f"{name} of {type_name(obj)} must be a dict, got {type_name(value)}")
    interface = <dict>value
    if required(interface, "version", name) < 3:
        raise BufferError(f"only {protocol} v3 or above is supported")
    if entry_of(interface, "mask") is not None:
        raise BufferError("mask is not supported")
    return interface


cdef int read_interface(StridedMemoryView view, dict interface, str name) except -1:
    """Read layout, type, address and read-only flag, which both interfaces share."""
    typestr = required(interface, "typestr", name)
    cdef int itemsize = read_typestr(typestr, &view.element)
    shape = required(interface, "shape", name)
    strides = entry_of(interface, "strides")
    if not isinstance(shape, tuple):
        raise TypeError(f"Expected tuple, got {type(shape).__name__}: the shape of {name}")
    if strides is not None and not isinstance(strides, tuple):
        raise TypeError(f"Expected tuple, got {type(strides).__name__}: the strides of {name}")
    view.native = layout_from(<tuple>shape, strides, itemsize, True)
    data = required(interface, "data", name)
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise TypeError(f"the data of {name} must be a tuple of address and read-only flag, got "
                        f"{data!r}")
    address, is_readonly = data
    view.fields.pointer = 0 if address is None else <uintptr_t>PyNumber_Index(address)
    view.flags = VIEW_IS_SET
    if is_readonly:
        view.flags |= VIEW_IS_READONLY
    if view.element.bits == 0:
        view.type_text = typestr
    return 0


cdef int set_device_of_address(StridedMemoryView view) except -1:
    """Set the device by the address; a null address gets the current device."""
    cdef pointer_facts facts
    view.fields.is_device_accessible = True
    view.device_kind = device_type.cuda
    if view.fields.pointer == 0:
        view.fields.device = current_ordinal()
        view.ordinal = view.fields.device
        return 0
    facts = classify_pointer(view.fields.pointer)
    if not facts.is_device_accessible:
        raise BufferError(f"__cuda_array_interface__ names address {view.fields.pointer:#x}, which "
                          "is neither device memory nor known to the driver")
    view.fields.device = facts.device
    if facts.is_managed:
        view.device_kind = device_type.cuda_managed
    elif facts.is_host_accessible:
        view.device_kind = device_type.cuda_host
    view.ordinal = facts.device if view.device_kind == device_type.cuda else 0
    return 0


cdef int import_cuda_array(StridedMemoryView view, object obj, object stream_ptr) except -1:
    name = "__cuda_array_interface__"
    attribute = interface_or_none(obj, name)
    if is_torch_tensor(obj):
        return import_torch(view, obj, stream_ptr)
    interface = check_interface(attribute, obj, name, "CUDA Array Interface")
    if stream_ptr is None:
        raise ambiguous_stream_error()
    consumer = stream_number(stream_ptr)
    view.source = obj
    read_interface(view, interface, name)
    set_device_of_address(view)
    view.flags |= VIEW_IS_SET
    return order_after_producer(stream_ptr, consumer, entry_of(interface, "stream"))


cdef int import_host_array(StridedMemoryView view, object obj) except -1:
    name = "__array_interface__"
    interface = check_interface(interface_or_none(obj, name), obj, name, "NumPy Array Interface")
    view.source = obj
    read_interface(view, interface, name)
    view.memory_owner = interface  # the dictionary may own the memory
    view.fields.device = -1
    view.device_kind = device_type.cpu
    return 0


cdef dict interface_of(StridedMemoryView self):
    check_memory(self)
    strides = None
    if not is_contiguous_c(self.native):
        strides = tuple([stride * self.native.itemsize() for stride in self.strides])
    return {"version": 3, "shape": self.shape, "typestr": typestr_of(self),
            "data": (self.fields.pointer, self.readonly), "strides": strides}
