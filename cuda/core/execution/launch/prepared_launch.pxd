# SPDX-License-Identifier: Apache-2.0
# PreparedLaunch: a launch that is packed once and repeated.

cdef class PreparedLaunch:
    cdef prepared_fields fields  # read by C++
    cdef Kernel kernel_object
    cdef LaunchConfig shape      # a copy of the caller's configuration
    cdef list values             # current arguments
    cdef list owners             # owner of the memory of each Buffer argument, else None

cdef PreparedLaunch prepare_launch(Kernel kernel, object config, tuple values)
