# SPDX-License-Identifier: Apache-2.0
# ManagedMemoryResource: managed memory from a memory pool of the driver.

cdef class ManagedMemoryResource(_MemPool):
    cdef tuple preference  # location (type, number), or None
