# SPDX-License-Identifier: Apache-2.0
# The cimport interface of device resources.

from cuda.bindings.cydriver cimport CUdevResource
from cuda.core._core cimport Context


cdef class SMResource:
    cdef CUdevResource resource  # unmodified: the driver rejects a changed resource
    cdef unsigned fallback_minimum    # minimum SM count of a group, if the driver reports none
    cdef unsigned fallback_alignment  # SM count alignment of groups, if the driver reports none
    cdef bint is_dry           # from a dry run: no context can be created from it
    cdef object __weakref__


cdef class WorkqueueResource:
    cdef CUdevResource config
    cdef CUdevResource queue
    cdef object __weakref__


cdef class DeviceResources:
    cdef int device            # queried if context is None
    cdef Context context       # None: the whole device
    cdef object __weakref__
