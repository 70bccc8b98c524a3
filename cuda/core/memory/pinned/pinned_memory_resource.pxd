# SPDX-License-Identifier: Apache-2.0
# PinnedMemoryResource: page-locked host memory from a memory pool of the driver.

cdef class PinnedMemoryResource(_ShareablePool):
    cdef int node          # NUMA node; -1: the system chooses
