# SPDX-License-Identifier: Apache-2.0
# Program: source code with its compiler.


@cython.final
cdef class Program:
    cdef object __weakref__
    cdef object compiler  # a Compiler
    cdef object source    # str, or bytes
    cdef str code_type
    cdef bint is_open
    cdef object lock      # held while the native program is in use
    cdef tuple kept_key   # the last key in a cache, and what it depends on; or None
