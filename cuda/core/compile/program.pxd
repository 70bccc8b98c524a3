# SPDX-License-Identifier: Apache-2.0
# Source text with its compiler.


@cython.final
cdef class Program:
    cdef object __weakref__
    cdef object compiler  # a Compiler
    cdef object source    # as it was given: str, or bytes
    cdef str code_type
    cdef bint is_open
    cdef object lock      # held while the native program is in use
