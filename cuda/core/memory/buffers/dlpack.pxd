# SPDX-License-Identifier: Apache-2.0
# DLPack tensors, and exports that keep a Python object alive.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t


cdef extern from "python/dlpack.hpp" namespace "halfwarp::python::dlpack" nogil:
    enum class device_type(int32_t):
        cpu
        cuda
        cuda_host
        cuda_managed
    cppclass dlpack_device "halfwarp::python::dlpack::device":
        device_type type
        int32_t id
    cppclass data_type:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    cppclass dlpack_tensor "halfwarp::python::dlpack::tensor":
        void* data
        dlpack_device location
        int32_t ndim
        data_type dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    cppclass managed_tensor:
        dlpack_tensor content
        void (*deleter)(managed_tensor*) noexcept
    cppclass dlpack_version "halfwarp::python::dlpack::version":
        uint32_t major
        uint32_t minor
    cppclass versioned_tensor:
        dlpack_version number
        uint64_t flags
        dlpack_tensor content
        void (*deleter)(versioned_tensor*) noexcept
    const dlpack_version supported_version
    const uint8_t signed_integer
    const uint64_t read_only, is_copied, is_subbyte_padded
    const char* capsule_name
    const char* versioned_capsule_name

# Returns the DLPack device of the memory of a buffer.
cdef dlpack_device dlpack_device_of(Buffer self) except *

# Returns whether a consumer with this `max_version` supports versioned capsules.
cdef bint accepts_versioned(object max_version) except -1

# Makes the stream of a consumer wait for the stream of the buffer's allocation.
cdef int order_consumer(Buffer self, object stream) except -1

# Returns a capsule over memory that `owner` keeps alive. Copies extents and strides.
cdef object make_dlpack_capsule(object owner, const dlpack_tensor& content, uint64_t flags,
                                bint is_versioned)

# Returns the managed tensor without a capsule.
cdef versioned_tensor* make_managed_tensor(object owner, const dlpack_tensor& content,
                                           uint64_t flags) except NULL

# Returns whether an object exports DLPack.
cdef bint has_dlpack(object producer) except -1

# Returns the device that a producer states, after a check. `pair` is the result of its method.
cdef dlpack_device tensor_device(object producer) except *
cdef dlpack_device stated_device(object pair, object producer) except *

# Returns the capsule of `__dlpack__`; `consumer` is its stream argument, `export` the method.
cdef object tensor_capsule(object producer, object consumer)
cdef object exported_capsule(object producer, object consumer)

# Sets one of the two tensors of a capsule, which still owns it.
cdef int find_tensor(object capsule, object producer, managed_tensor** plain,
                     versioned_tensor** versioned) except -1

# Returns the content of one of the two tensors, after a check of all fields.
cdef const dlpack_tensor* checked_tensor(managed_tensor* plain, versioned_tensor* versioned,
                                         object producer) except NULL

# Rejects devices that DLPack has and CUDA has not.
cdef int check_device_type(int64_t kind) except -1

# Rejects a DLPack request that an export without a copy cannot meet.
cdef int check_dlpack_request(object stream, object dl_device, object copy,
                              dlpack_device device) except -1

# The importer of the array interfaces. Each function checks the entry that it returns.
cdef object interface_entry(dict interface, str key, str name)
cdef dict checked_interface(object value, object producer, str name, str protocol)
cdef uintptr_t interface_address(dict interface, str name, bint* is_readonly) except? 1
cdef tuple interface_shape(dict interface, str name)
cdef object interface_strides(dict interface, str name)
cdef object interface_stream(dict interface)
cdef pointer_facts interface_memory(uintptr_t address) except *

# Returns the element size of a typestr, and sets the DLPack element type if there is one.
cdef int read_typestr(object typestr, data_type* element) except 0

# Rejects an array of references to Python objects, and an array whose base is such an array.
# `is_field`: the array may be a field of records that have references in other fields.
cdef int reject_references(object owner, str call, bint is_field) except -1
