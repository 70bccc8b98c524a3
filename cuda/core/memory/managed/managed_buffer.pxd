# SPDX-License-Identifier: Apache-2.0
# ManagedBuffer: a buffer of managed memory.

cdef class ManagedBuffer(Buffer):
    pass
