# SPDX-License-Identifier: Apache-2.0
# Export of a Buffer as a DLPack tensor.


cdef extern from "python/dlpack.hpp" namespace "halfwarp::python::dlpack":
    object export_tensor(object owner, const dlpack_tensor&, uint64_t flags, bint is_versioned)
    versioned_tensor* export_managed(object owner, const dlpack_tensor&, uint64_t flags) \
        except NULL


cdef dlpack_device dlpack_device_of(Buffer self) except *:
    cdef dlpack_device device
    resource = resource_of(self)
    if type(resource) is DeviceMemoryResource:  # fast path: equals the result of the properties
        device.type = device_type.cuda
        device.id = (<DeviceMemoryResource>resource).device
        return device
    cdef bint on_device = is_device_accessible(self)
    cdef bint on_host = is_host_accessible(self)
    device.id = 0
    if on_device and on_host:
        device.type = device_type.cuda_managed if is_managed(self) else device_type.cuda_host
    elif on_device:
        device.type = device_type.cuda
        device.id = int_option("device_id of the memory resource", self.device_id)
    elif on_host:
        device.type = device_type.cpu
    else:
        raise BufferError("buffer is neither device-accessible nor host-accessible")
    return device


cdef bint accepts_versioned(object max_version) except -1:
    """Return whether the consumer supports versioned capsules."""
    if max_version is None:
        return False
    if not isinstance(max_version, tuple):
        raise TypeError(f"Expected max_version tuple[int, int], got {shown(max_version)}")
    if len(max_version) != 2:
        raise BufferError(f"Expected max_version tuple[int, int], got {shown(max_version)}")
    major, _ = max_version
    return as_int("the major number of max_version", major) >= 1


cdef int check_dlpack_request(object stream, object dl_device, object copy,
                              dlpack_device device) except -1:
    """Reject a request that an export without a copy cannot meet."""
    if stream is not None:
        if not PyIndex_Check(stream):
            raise TypeError(f"__dlpack__: stream must be an int or None, got "
                            f"{qualified_name(stream)}")
        if not -1 <= operator.index(stream) < 2**64:
            raise ValueError(f"__dlpack__: stream must be the address of a stream, 1 or 2 for a "
                             f"default stream, or -1 for no ordering, got {stream}")
    if copy is not None and type(copy) is not bool:
        raise TypeError(f"__dlpack__: copy must be a bool or None, got {shown(copy)}")
    if copy:
        raise BufferError("Sorry, not supported: copy=True")
    if dl_device is not None and not isinstance(dl_device, (tuple, list)):
        raise TypeError("__dlpack__: dl_device must be a tuple of device type and ordinal, got "
                        f"{qualified_name(dl_device)}")
    if dl_device is not None and tuple(dl_device) != (<int>device.type, device.id):
        raise BufferError("Sorry, not supported: dl_device other than None or the device of the "
                          f"memory, ({<int>device.type}, {device.id}), got {tuple(dl_device)}")


cdef int order_raw_stream(Buffer self, CUstream raw) except -1:
    cdef free_order order
    cdef Stream consumer
    with cython.critical_section(self):
        holder = self if self.shared is None else self.shared
        order = (<Buffer>holder).order
    if order.is_recorded() and not order.is_on(raw):
        consumer = wrap_raw_stream(Stream, raw, None)
        order.make_wait(consumer.native.borrow_open(consumer))


cdef int order_consumer(Buffer self, object stream) except -1:
    """Make the consumer's stream wait for the stream of the allocation."""
    if stream is not None:
        number = stream if type(stream) is int else operator.index(stream)
        if number != -1:
            order_raw_stream(self, <CUstream><uintptr_t>number)


cdef object export_dlpack(Buffer self, object stream, object max_version, object dl_device,
                          object copy):
    cdef bint versioned = accepts_versioned(max_version)
    cdef dlpack_device device = dlpack_device_of(self)
    check_dlpack_request(stream, dl_device, copy, device)
    check_exportable(self.fields.size)
    order_consumer(self, stream)
    cdef buffer_fields memory = open_memory_of(self)
    cdef int64_t size = memory.size, stride = 1
    cdef dlpack_tensor content
    content.data = <void*><uintptr_t>memory.pointer
    content.location = device
    content.ndim = 1
    content.dtype.code, content.dtype.bits, content.dtype.lanes = signed_integer, 8, 1
    content.shape, content.strides = &size, &stride
    content.byte_offset = 0
    return export_tensor(self, content, 0, versioned)


cdef object make_dlpack_capsule(object owner, const dlpack_tensor& content, uint64_t flags,
                                bint is_versioned):
    return export_tensor(owner, content, flags, is_versioned)


cdef versioned_tensor* make_managed_tensor(object owner, const dlpack_tensor& content,
                                           uint64_t flags) except NULL:
    return export_managed(owner, content, flags)
