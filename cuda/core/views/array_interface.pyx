# SPDX-License-Identifier: Apache-2.0
# Import and export through the array interfaces of CUDA and NumPy.

from cuda.core._core cimport (
    checked_interface, interface_address, interface_entry, interface_memory, interface_shape,
    interface_stream, interface_strides, pointer_facts, read_typestr,
)


cdef int read_interface(StridedMemoryView view, dict interface, str name) except -1:
    """Read layout, type, address and read-only flag, which both interfaces share."""
    cdef bint is_readonly = False
    typestr = interface_entry(interface, "typestr", name)
    cdef int itemsize = read_typestr(typestr, &view.element)
    view.native = layout_from(interface_shape(interface, name), interface_strides(interface, name),
                              itemsize, True)
    view.fields.pointer = interface_address(interface, name, &is_readonly)
    check_reach(view.native, view.fields.pointer)
    view.flags = VIEW_IS_SET
    if is_readonly:
        view.flags |= VIEW_IS_READONLY
    if view.element.bits == 0:
        view.type_text = typestr


cdef void set_device_of_address(StridedMemoryView view) except *:
    """Set the device by the address; a null address gets the current device."""
    cdef pointer_facts facts
    view.fields.is_device_accessible = True
    view.device_kind = device_type.cuda
    if view.fields.pointer == 0:
        view.fields.device = current_ordinal()
        view.ordinal = view.fields.device
        return
    facts = interface_memory(view.fields.pointer)
    view.fields.device = facts.device
    if facts.is_managed:
        view.device_kind = device_type.cuda_managed
    elif facts.is_host_accessible:
        view.device_kind = device_type.cuda_host
    view.ordinal = facts.device if view.device_kind == device_type.cuda else 0


cdef int import_cuda_array(StridedMemoryView view, object obj, object stream_ptr) except -1:
    name = "__cuda_array_interface__"
    attribute = getattr(obj, name, None)
    if is_torch_tensor(obj):
        return import_torch(view, obj, stream_ptr)
    interface = checked_interface(attribute, obj, name, "CUDA Array Interface")
    if stream_ptr is None:
        raise ambiguous_stream_error()
    consumer = stream_number(stream_ptr)
    view.source = obj
    read_interface(view, interface, name)
    set_device_of_address(view)
    return order_after_producer(stream_ptr, consumer, interface_stream(interface))


cdef int import_host_array(StridedMemoryView view, object obj) except -1:
    name = "__array_interface__"
    interface = checked_interface(getattr(obj, name, None), obj, name, "NumPy Array Interface")
    view.source = obj
    read_interface(view, interface, name)
    view.memory_owner = interface  # the dictionary may own the memory
    view.fields.device = 0  # the reference's ordinal; -1 by DLPack
    view.device_kind = device_type.cpu


cdef dict interface_of(StridedMemoryView self):
    check_memory(self)
    strides = None
    if not is_contiguous_c(self.native):
        strides = tuple([stride * self.native.itemsize() for stride in self.strides])
    return {"version": 3, "shape": self.shape, "typestr": typestr_of(self),
            "data": (self.fields.pointer, self.readonly), "strides": strides}
