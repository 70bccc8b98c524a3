# SPDX-License-Identifier: Apache-2.0
# Buffer: a contiguous range of memory and its deallocation.

# Properties of an address, from the driver or the resource.
cdef struct pointer_facts:
    bint is_known
    bint is_host_accessible
    bint is_device_accessible
    bint is_managed
    int device


# The deallocator is one of: `pool` (a driver pool), `block` (of the PoolMemoryResource `resource`),
# `resource` alone (its deallocate), none.
# trashcan: a subclass in another extension inherits it only from here.
@cython.trashcan(True)
cdef class Buffer:
    cdef buffer_fields fields   # fields that C++ reads
    cdef free_order order       # recorded at the allocation; empty if none is needed
    cdef pool_handle pool
    cdef pool_block* block
    cdef object resource        # MemoryResource of the allocation, or None
    cdef object memory_owner    # object that owns the memory instead, or None
    cdef object stream          # Stream argument of `resource.deallocate`, or None
    cdef Buffer shared          # hidden Buffer that owns the memory after sharing, or None
    cdef pointer_facts facts    # queried once, for memory without a resource
    cdef Py_ssize_t exports     # number of live buffer-protocol views
    cdef Py_ssize_t shape       # shape and stride of these views
    cdef Py_ssize_t stride
    cdef object guard           # _CycleGuard if the resource is a user-defined class, or None
    cdef bint is_import         # memory of another process that is mapped at its own address
    cdef bint was_opened        # Each Buffer is opened once, which fixes its identity:
    cdef CUdeviceptr identity   # the address,
    cdef size_t identity_size   # and the size
    cdef object __weakref__
    cdef object claim           # object that lives while a Buffer owns the memory, or None

# Options of a copy. They are converted before any address is read, because the conversion can run
# user code that closes a Buffer.
cdef class _CopyAttributes:
    # Copies bytes in the order of a stream, without running user code.
    cdef int copy(self, CUdeviceptr target, CUdeviceptr source, size_t size,
                  Stream stream) except -1

# Returns a new instance of `cls`, whose `__new__` may be user code.
cdef Buffer new_buffer(object cls)

# Opens a new Buffer over memory. Raises RuntimeError if the Buffer was opened before.
cdef int open_buffer(Buffer buffer, CUdeviceptr pointer, size_t size) except -1

# Returns the memory of an open Buffer. Call this after all user code, before the use.
cdef buffer_fields open_memory_of(Buffer buffer) except *

# Frees the memory on `stream`, or on the recorded stream for None. Closes the buffer in any case,
# and raises a failure.
cdef int release_memory(Buffer self, Stream stream) except -1

# Returns an object that keeps the memory of an open Buffer alive after the Buffer is closed.
cdef object share_allocation(Buffer self)

# Replaces the recorded stream of the deallocation.
cdef int set_free_stream(Buffer self, Stream stream) except -1

# Records the position of a free in a stream. RuntimeError for a default stream without a context.
cdef free_order record_free_order(Stream stream) except *

# Opens an empty Buffer over memory of a pool, to be freed on `stream`. Moves both handles.
cdef int open_pool_buffer(Buffer buffer, object resource, pool_handle& pool,
                          CUdeviceptr pointer, size_t size, stream_handle& stream) except -1

# Implements `Buffer.from_handle` for a class.
cdef Buffer wrap_memory(object cls, object ptr, object size, object mr, object owner,
                        object stream)

cdef bint is_managed(Buffer self) except -1

# Returns the properties of an address. Initializes the driver if needed.
cdef pointer_facts classify_pointer(CUdeviceptr pointer) except *

# Copies memory of one size in the order of a stream.
cdef int copy_memory(const buffer_fields* target, const buffer_fields* source,
                     Stream stream) except -1

# Return the byte of a fill with an int, and the width and bits of a pattern of 1, 2 or 4 bytes.
cdef unsigned byte_of(object value) except? 256
cdef size_t pattern_of(object value, unsigned* pattern) except 0

# Returns the owner of the contiguous memory of a Buffer or buffer-protocol object, for a copy.
# `range_for_copy` returns its memory after all user code. `retain_after_copy` keeps it alive once
# the copy was submitted or captured.
cdef object memory_for_copy(object value, bint is_written, Stream stream)
cdef buffer_fields range_for_copy(object memory) except *
cdef int retain_after_copy(object memory, Stream stream) except -1
