# SPDX-License-Identifier: Apache-2.0
# Functions whose arguments may be arrays of any library, and the older ways to make a view.

from cpython.exc cimport PyErr_WarnEx

from functools import wraps


@cython.final
cdef class _StridedMemoryViewProxy:
    """An argument that can be viewed.

    Attributes
    ----------
    obj : object
        The argument itself.
    has_dlpack : bool
        Whether `view` goes through DLPack; else through ``__cuda_array_interface__``.
    """

    cdef readonly object obj
    cdef readonly bint has_dlpack

    def __init__(self, obj):
        self.has_dlpack = hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__")
        if not self.has_dlpack and not hasattr(obj, "__cuda_array_interface__"):
            raise no_protocol(obj)
        self.obj = obj

    def view(self, stream_ptr=None):
        """The view of the argument, ordered as `StridedMemoryView.from_any_interface` does.

        Parameters
        ----------
        stream_ptr : Stream or int
            The stream that will use the memory, or its address; -1 for no order.

        Returns
        -------
        StridedMemoryView
        """
        cdef StridedMemoryView view = new_view(StridedMemoryView)
        if self.has_dlpack:
            take_dlpack(view, self.obj, stream_ptr)
        else:
            take_cuda_array(view, self.obj, stream_ptr)
        return view


@cython.binding(True)
def args_viewable_as_strided_memory(tuple arg_indices):
    """Let a function take arrays of any library.

    Host only. A decorator: the positional arguments that it names reach the function as objects
    with `obj`, `has_dlpack` and ``view(stream_ptr)``, which gives a `StridedMemoryView`.

    Parameters
    ----------
    arg_indices : tuple of int
        The positions of these arguments.

    Returns
    -------
    callable

    Raises
    ------
    BufferError
        At the call, if one of them has neither DLPack nor ``__cuda_array_interface__``.
    """
    def decorate(function):
        @wraps(function)
        def call_with_views(*args, **kwargs):
            given = list(args)
            for index in arg_indices:
                if not -len(given) <= index < len(given):
                    raise IndexError(
                        f"{function.__qualname__}() got {len(given)} positional arguments, and "
                        f"argument {index} is to be viewed: pass it by position")
                given[index] = _StridedMemoryViewProxy(given[index])
            return function(*given, **kwargs)
        return call_with_views
    return decorate


cdef int warn_direct(str what, str instead) except -1:
    return PyErr_WarnEx(DeprecationWarning, f"Constructing a StridedMemoryView directly from a "
                        f"{what}-supporting object is deprecated; Use {instead} or "
                        "`StridedMemoryView.from_any_interface` instead.".encode(), 1)


cdef int take_deprecated(StridedMemoryView view, object obj, object stream_ptr) except -1:
    """`StridedMemoryView(obj, stream_ptr)`, and the empty one."""
    if view.flags & VIEW_IS_SET:
        raise RuntimeError("StridedMemoryView is initialised already")
    if obj is None:
        return PyErr_WarnEx(
            DeprecationWarning,
            b"Constructing an empty StridedMemoryView is deprecated; use one of the classmethods "
            b"`from_dlpack`, `from_cuda_array_interface` or `from_any_interface` to construct a "
            b"StridedMemoryView from an object", 1)
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        warn_direct("DLPack", "`StridedMemoryView.from_dlpack`")
        return take_dlpack(view, obj, stream_ptr)
    if hasattr(obj, "__cuda_array_interface__"):
        warn_direct("CUDA-array-interface", "`StridedMemoryView.from_cuda_array_interface`")
        return take_cuda_array(view, obj, stream_ptr)
    raise no_protocol(obj)


def view_as_cai(obj, stream_ptr, view=None):
    """`StridedMemoryView.from_cuda_array_interface` under its older name. Host only."""
    cdef StridedMemoryView made = new_view(StridedMemoryView) if view is None else view
    take_cuda_array(made, obj, stream_ptr)
    return made


def view_as_array_interface(obj, view=None):
    """`StridedMemoryView.from_array_interface` under its older name. Host only."""
    cdef StridedMemoryView made = new_view(StridedMemoryView) if view is None else view
    take_host_array(made, obj)
    return made
