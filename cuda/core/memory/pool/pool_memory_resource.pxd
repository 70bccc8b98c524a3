# SPDX-License-Identifier: Apache-2.0
# PoolMemoryResource: a pool of ours, over the memory of another resource.

cdef class PoolMemoryResource(MemoryResource):
    cdef segment_pool* native  # NULL before __init__
    cdef readonly object upstream
    cdef Stream order          # memory goes back upstream in its order; made with the first segment
    cdef int device
    cdef bint is_for_device
    cdef bint is_for_host
    cdef bint is_moving
    cdef size_t slack          # what is asked of upstream besides, where it aligns to less than us
    cdef size_t limit          # of what is held from upstream; SIZE_MAX: none
    cdef object threshold
    cdef readonly str capture
    cdef PoolMemoryResource whole  # of one that serves a capture: whose capture it is; else None
    cdef object captures       # number of a capture -> what serves it, as long as that is in use
    cdef dict stacks           # address -> stack, or None where they are not recorded

# Gives a block back that a Buffer held: on `stream`, or where it came from for None.
cdef int give_block_back(PoolMemoryResource self, pool_block* block, const free_order& order,
                         Stream stream) except -1

# Lets the memory of a Buffer go back on another stream.
cdef int move_block(PoolMemoryResource self, Buffer buffer, Stream stream) except -1
