# SPDX-License-Identifier: Apache-2.0
# ParamHolder: packed arguments for a raw launch.

cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    int register_view_class "halfwarp::python::register_class"(object, const view_fields*) \
        except -1


cdef int register_views(object sample, const view_fields* fields) except -1:
    return register_view_class(sample, fields)


@cython.final
cdef class ParamHolder:
    """ParamHolder(kernel_args)
--

Arguments packed as `launch` packs them for a kernel of which nothing is known.

It owns the memory, and keeps the arguments alive.

Parameters
----------
kernel_args : sequence
    The arguments.

Attributes
----------
ptr : int
    The address of the ``void**`` array for ``cuLaunchKernel``; 0 for no arguments.

Raises
------
TypeError
    If an argument is of a type that no kernel takes.
"""

    def __cinit__(self):
        self.packed = NULL

    def __init__(self, kernel_args):
        if self.packed is not NULL:
            raise RuntimeError("ParamHolder is initialised already")
        self.values = tuple(kernel_args)
        self.packed = new owned_arguments()
        pack_unchecked(self.values, self.packed[0])
        self.ptr = <intptr_t>self.packed.pointers() if self.values else 0

    def __dealloc__(self):
        del self.packed
