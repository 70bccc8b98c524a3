# SPDX-License-Identifier: Apache-2.0
# ParamHolder: packed arguments for a raw launch.

cdef class ParamHolder:
    cdef readonly intptr_t ptr
    cdef kept_arguments* packed
    cdef tuple values
