# SPDX-License-Identifier: Apache-2.0
# ParamHolder: packed arguments for a raw launch.

cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    int register_view_class "halfwarp::python::register_class"(object, const view_fields*) \
        except -1


cdef extern from "python/arguments/pack_array.hpp" namespace "halfwarp::python":
    ctypedef int (*import_function)(object producer, uint64_t* address) except -1
    import_function import_tensor_in_cpp "halfwarp::python::import_tensor"
    import_function import_interface_in_cpp "halfwarp::python::import_interface"


import_tensor_in_cpp = tensor_address
import_interface_in_cpp = array_address


cdef int register_views(object sample, const view_fields* fields) except -1:
    return register_view_class(sample, fields)


@cython.final
cdef class ParamHolder:
    """ParamHolder(kernel_args)
--

Arguments packed in the way of `launch` for a kernel without known parameters.

It owns the packed memory and retains the arguments.

Parameters
----------
kernel_args : sequence
    The arguments.

Attributes
----------
ptr : int
    Address of the ``void**`` array for ``cuLaunchKernel``; 0 without arguments.

Raises
------
TypeError
    If kernels do not accept an argument's type.
"""

    def __cinit__(self):
        self.packed = NULL

    def __init__(self, kernel_args):
        if self.packed is not NULL:
            raise RuntimeError("ParamHolder is initialized already")
        self.values = tuple(kernel_args)
        self.packed = new owned_arguments()
        pack_unchecked(self.values, self.packed[0])
        self.ptr = <intptr_t>self.packed.pointers() if self.values else 0

    def __dealloc__(self):
        del self.packed
