# SPDX-License-Identifier: Apache-2.0
# The cimport contract of device resources.

from cuda.bindings.cydriver cimport CUdevResource
from cuda.core._core cimport Context


cdef class SMResource:
    cdef CUdevResource resource  # as the driver made it, which refuses one that was changed
    cdef unsigned least        # fewest of a group, where the driver leaves that open
    cdef unsigned together     # what groups are multiples of, likewise
    cdef bint is_dry           # counts only: no context can be made of it
    cdef object __weakref__


cdef class WorkqueueResource:
    cdef CUdevResource config
    cdef CUdevResource queue
    cdef object __weakref__


cdef class DeviceResources:
    cdef int device            # asked when there is no context
    cdef Context context       # None: the whole device
    cdef object __weakref__
