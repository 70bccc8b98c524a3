# SPDX-License-Identifier: Apache-2.0
# PoolMemoryResource: a pool that cuts segments of an upstream resource into blocks.

ctypedef segment_pool* pool_pointer
ctypedef initialized[pool_pointer] initialized_pool


cdef class PoolMemoryResource(MemoryResource):
    cdef initialized_pool native
    cdef readonly object upstream
    cdef Stream upstream_stream  # frees segments upstream; created with the first segment
    cdef int device
    cdef bint is_for_device
    cdef bint is_for_host
    cdef bint is_migrating     # managed memory
    cdef size_t padding        # extra bytes per segment if upstream aligns to less than 256 bytes
    cdef size_t limit          # maximum reserved bytes; SIZE_MAX: none
    cdef object threshold
    cdef readonly str capture
    cdef PoolMemoryResource parent  # the public pool of a private capture pool, else None
    cdef object capture_pools  # weak: id of a capture -> its private pool
    cdef dict stacks           # address -> stack, or None if stacks are not recorded

# Frees the block of a Buffer: on `stream`, or on the stream of the block for None.
cdef int free_block(PoolMemoryResource self, pool_block* block, const free_order& order,
                    Stream stream) except -1

# Sets the stream on which the block of a Buffer is freed.
cdef int move_block_to_stream(PoolMemoryResource self, Buffer buffer, Stream stream) except -1
