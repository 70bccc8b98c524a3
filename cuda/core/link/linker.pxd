# SPDX-License-Identifier: Apache-2.0
# Linker: it links object code of several sources.


@cython.final
cdef class Linker:
    cdef object __weakref__
    cdef object session        # a LinkSession
    cdef object lock           # held while the native linker is in use
    cdef bint is_open
    cdef list codes
    cdef str name
    cdef list native_options
    cdef bytes declarations    # None before a cubin is linked
