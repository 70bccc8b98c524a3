# SPDX-License-Identifier: Apache-2.0
# PreparedLaunch: a launch that is packed once and repeated.

cdef class PreparedLaunch:
    cdef prepared_fields fields  # what C++ reads
    cdef Kernel launched
    cdef LaunchConfig shape      # a copy of the caller's
    cdef list values             # as given last
    cdef list kept               # the memory of Buffers among them, in the same places

cdef PreparedLaunch prepare_launch(Kernel kernel, object config, tuple values)
