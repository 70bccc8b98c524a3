# SPDX-License-Identifier: Apache-2.0
# LegacyPinnedMemoryResource: page-locked host memory without a pool.

cdef class LegacyPinnedMemoryResource(MemoryResource):
    pass
