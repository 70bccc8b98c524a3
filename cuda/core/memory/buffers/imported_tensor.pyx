# SPDX-License-Identifier: Apache-2.0
# The importer of DLPack tensors, for buffers, views and kernel arguments.

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid

cdef extern from *:
    """
    static inline bool halfwarp_multiply_overflows(int64_t a, int64_t b, int64_t* product) {
      return __builtin_mul_overflow(a, b, product);
    }
    static inline bool halfwarp_add_overflows(uint64_t a, uint64_t b, uint64_t* sum) {
      return __builtin_add_overflow(a, b, sum);
    }
    """
    bint multiply_overflows "halfwarp_multiply_overflows"(int64_t, int64_t, int64_t*) noexcept
    bint add_overflows "halfwarp_add_overflows"(uint64_t, uint64_t, uint64_t*) noexcept


cdef extern from "Python.h":
    object PyObject_VectorcallMethod(object name, PyObject** arguments, size_t count, object names)

cdef enum:
    MAX_TENSOR_AXES = 64


cdef bint has_dlpack(object producer) except -1:
    """Return whether an object has both methods; None instead of one is Python's way to say no."""
    return (getattr(producer, "__dlpack__", None) is not None
            and getattr(producer, "__dlpack_device__", None) is not None)


cdef int check_dlpack(object producer) except -1:
    """Raise BufferError for an object without one of the methods."""
    for name in ("__dlpack__", "__dlpack_device__"):
        if getattr(producer, name, None) is None:
            raise BufferError(f"{qualified_name(producer)} does not export DLPack: it has no "
                              f"{name}")


cdef int check_device_type(int64_t kind) except -1:
    """Reject devices whose tensors have no address that CUDA or the host can use."""
    if (kind != <int>device_type.cpu and kind != <int>device_type.cuda
            and kind != <int>device_type.cuda_host and kind != <int>device_type.cuda_managed):
        raise BufferError(f"device not supported: DLPack's kind {kind}")


cdef dlpack_device tensor_device(object producer) except *:
    try:
        pair = producer.__dlpack_device__()
    except TypeError:
        check_dlpack(producer)
        raise
    return stated_device(pair, producer)


cdef dlpack_device stated_device(object pair, object producer) except *:
    """Return the device that a producer states, after a check."""
    cdef dlpack_device device
    cdef long long kind_number = 0, number = 0
    try:
        kind, ordinal = pair
        if not (isinstance(kind, int) and isinstance(ordinal, int)):
            kind, ordinal = operator.index(kind), operator.index(ordinal)
    except (TypeError, ValueError) as error:
        raise BufferError(f"__dlpack_device__ of {qualified_name(producer)} must return a device "
                          f"type and an ordinal, got {shown(pair)}") from error
    try:
        kind_number, number = kind, ordinal
    except OverflowError:
        raise_unsupported_device(pair, producer)
    # Larger numbers would lose bits in the fields of DLPack.
    if kind_number != <int>kind_number or number != <int>number:
        raise_unsupported_device(pair, producer)
    check_device_type(kind_number)
    device.type = <device_type><int>kind_number
    device.id = <int>number
    if device.type == device_type.cuda and device.id < 0:
        raise BufferError(f"device not supported: __dlpack_device__ of {qualified_name(producer)} "
                          f"returned the negative ordinal {ordinal}")
    return device


cdef int raise_unsupported_device(object pair, object producer) except -1:
    raise BufferError(f"device not supported: __dlpack_device__ of {qualified_name(producer)} "
                      f"returned {shown(pair)}")


cdef object tensor_capsule(object producer, object consumer):
    """Return the capsule of `__dlpack__`; `consumer` is its stream argument."""
    try:
        return exported_capsule(producer, consumer)
    except (AttributeError, TypeError):
        check_dlpack(producer)
        raise


cdef tuple MAX_VERSION = (supported_version.major, supported_version.minor)
cdef tuple EXPORT_KEYWORDS = ("stream", "max_version")


cdef object exported_capsule(object producer, object consumer):
    """Call `__dlpack__` without a method object and a tuple of keywords, which take 60 ns."""
    cdef PyObject* arguments[3]
    arguments[0], arguments[1] = <PyObject*>producer, <PyObject*>consumer
    arguments[2] = <PyObject*>MAX_VERSION
    try:
        return PyObject_VectorcallMethod("__dlpack__", arguments, 1, EXPORT_KEYWORDS)
    except TypeError:  # an exporter without versioned capsules
        return producer.__dlpack__(stream=consumer)


cdef int find_tensor(object capsule, object producer, managed_tensor** plain,
                     versioned_tensor** versioned) except -1:
    """Set one of the two tensors. The capsule still owns it."""
    plain[0] = NULL
    versioned[0] = NULL
    if PyCapsule_IsValid(capsule, versioned_capsule_name):
        versioned[0] = <versioned_tensor*>PyCapsule_GetPointer(capsule, versioned_capsule_name)
    elif PyCapsule_IsValid(capsule, capsule_name):
        plain[0] = <managed_tensor*>PyCapsule_GetPointer(capsule, capsule_name)
    elif (PyCapsule_IsValid(capsule, b"used_dltensor")
          or PyCapsule_IsValid(capsule, b"used_dltensor_versioned")):
        raise BufferError(f"__dlpack__ of {qualified_name(producer)} returned a capsule that was "
                          "consumed before")
    else:
        raise BufferError(f"__dlpack__ of {qualified_name(producer)} must return a DLPack capsule, "
                          f"got {qualified_name(capsule)}")


cdef const dlpack_tensor* checked_tensor(managed_tensor* plain, versioned_tensor* versioned,
                                         object producer) except NULL:
    """Check the fields of a tensor before anything reads its extents, strides or memory."""
    if versioned is NULL:
        check_tensor_fields(&plain.content, False, producer)
        return &plain.content
    if versioned.number.major != supported_version.major:
        raise BufferError(
            f"{qualified_name(producer)} exports DLPack {versioned.number.major}."
            f"{versioned.number.minor}, but only {supported_version.major}.x is supported")
    check_tensor_fields(&versioned.content, (versioned.flags & is_subbyte_padded) != 0, producer)
    return &versioned.content


cdef int check_tensor_fields(const dlpack_tensor* tensor, bint is_padded,
                             object producer) except -1:
    cdef int axis
    check_device_type(<int>tensor.location.type)
    if tensor.ndim < 0:
        raise BufferError(f"the tensor of {qualified_name(producer)} has {tensor.ndim} axes")
    if tensor.ndim > MAX_TENSOR_AXES:
        raise ValueError(f"Unsupported number of dimensions: {tensor.ndim}. Max supported ndim is "
                         f"{MAX_TENSOR_AXES}")
    if tensor.ndim > 0 and tensor.shape is NULL:
        raise BufferError(f"the tensor of {qualified_name(producer)} has no shape")
    for axis in range(tensor.ndim):
        if tensor.shape[axis] < 0:
            raise ValueError(f"Extents must be non-negative: the tensor of "
                             f"{qualified_name(producer)} has extent {tensor.shape[axis]} on axis "
                             f"{axis}")
    return check_tensor_memory(tensor, is_padded, producer)


cdef int64_t tensor_size(const dlpack_tensor* tensor, bint is_padded, object producer) except -1:
    """Return the bytes of all elements. Fractions of bytes count as a whole one."""
    cdef int axis
    cdef int64_t count = 1, bits = tensor.dtype.bits
    if is_padded and bits < 8:
        bits = 8
    for axis in range(tensor.ndim):
        if tensor.shape[axis] == 0:
            return 0
    for axis in range(tensor.ndim):
        if multiply_overflows(count, tensor.shape[axis], &count):
            raise_tensor_too_large(producer)
    if multiply_overflows(count, bits * tensor.dtype.lanes, &bits):
        raise_tensor_too_large(producer)
    return bits // 8 + (bits % 8 != 0)


cdef int raise_tensor_too_large(object producer) except -1:
    raise OverflowError(f"the tensor of {qualified_name(producer)} needs numbers of more than 64 "
                        "bits")


cdef int check_tensor_memory(const dlpack_tensor* tensor, bint is_padded,
                             object producer) except -1:
    """Reject elements without an address, and addresses beyond 64 bits."""
    cdef int64_t size = tensor_size(tensor, is_padded, producer)
    cdef uint64_t end
    if tensor.data is NULL and size > 0:
        raise BufferError(f"the tensor of {qualified_name(producer)} has {size} bytes of elements, "
                          "but no address")
    if (add_overflows(<uint64_t><uintptr_t>tensor.data, tensor.byte_offset, &end)
            or add_overflows(end, <uint64_t>size, &end)):
        raise_tensor_too_large(producer)


cdef int tensor_address(object producer, uint64_t* address) except -1:
    """Set the address of a tensor for a kernel, without stream order; 1 for host memory."""
    cdef managed_tensor* plain = NULL
    cdef versioned_tensor* versioned = NULL
    cdef const dlpack_tensor* tensor
    cdef dlpack_device device = tensor_device(producer)
    if device.type == device_type.cpu:
        return 1
    capsule = tensor_capsule(producer, -1)
    # The capsule is read but not consumed: its destructor releases the tensor.
    find_tensor(capsule, producer, &plain, &versioned)
    tensor = checked_tensor(plain, versioned, producer)
    address[0] = <uint64_t><uintptr_t>tensor.data + tensor.byte_offset
