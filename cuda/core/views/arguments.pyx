# SPDX-License-Identifier: Apache-2.0
# args_viewable_as_strided_memory, and the deprecated constructors of views.

from cpython.exc cimport PyErr_WarnEx

from functools import wraps


@cython.final
cdef class _StridedMemoryViewProxy:
    """An argument that can be imported as a view.

    Attributes
    ----------
    obj : object
        The argument itself.
    has_dlpack : bool
        Whether `view` uses DLPack; else it uses ``__cuda_array_interface__``.
    """

    cdef readonly object obj
    cdef readonly bint has_dlpack

    def __init__(self, obj):
        self.has_dlpack = has_dlpack(obj)
        if not self.has_dlpack and not hasattr(obj, "__cuda_array_interface__"):
            raise no_protocol_error(obj)
        self.obj = obj

    def view(self, stream_ptr=None):
        """Return a view of the argument, ordered as by `StridedMemoryView.from_any_interface`.

        Parameters
        ----------
        stream_ptr : Stream or int
            The stream that will use the memory, or its address; -1 for no ordering.

        Returns
        -------
        StridedMemoryView
        """
        cdef StridedMemoryView view = new_view(StridedMemoryView)
        if self.has_dlpack:
            import_dlpack(view, self.obj, stream_ptr)
        else:
            import_cuda_array(view, self.obj, stream_ptr)
        return view


@cython.binding(True)
def args_viewable_as_strided_memory(tuple arg_indices):
    """Return a decorator that lets a function accept arrays of any library.

    Host only. The decorator wraps the named positional arguments in objects with `obj`,
    `has_dlpack` and ``view(stream_ptr)``, which returns a `StridedMemoryView`.

    Parameters
    ----------
    arg_indices : tuple of int
        Positions of the arguments to wrap.

    Returns
    -------
    callable

    Raises
    ------
    BufferError
        At the call, if an argument has neither DLPack nor ``__cuda_array_interface__``.
    """
    def decorate(function):
        @wraps(function)
        def call_with_views(*args, **kwargs):
            arguments = list(args)
            for index in arg_indices:
                if not -len(arguments) <= index < len(arguments):
                    raise IndexError(
                        f"{function.__qualname__}() got {len(arguments)} positional arguments, but "
                        f"argument {index} must be viewed: pass it by position")
                arguments[index] = _StridedMemoryViewProxy(arguments[index])
            return function(*arguments, **kwargs)
        return call_with_views
    return decorate


cdef int warn_direct(str protocol, str replacement) except -1:
    return PyErr_WarnEx(DeprecationWarning, f"Constructing a StridedMemoryView directly from a "
                        f"{protocol}-supporting object is deprecated; Use {replacement} or "
                        "`StridedMemoryView.from_any_interface` instead.".encode(), 1)


cdef int initialize_deprecated(StridedMemoryView view, object obj, object stream_ptr) except -1:
    """Implement `StridedMemoryView(obj, stream_ptr)`, which is deprecated."""
    if view.flags & VIEW_IS_SET:
        raise RuntimeError("StridedMemoryView is already initialized")
    if obj is None:
        return PyErr_WarnEx(
            DeprecationWarning,
            b"Constructing an empty StridedMemoryView is deprecated; use one of the classmethods "
            b"`from_dlpack`, `from_cuda_array_interface` or `from_any_interface` to construct a "
            b"StridedMemoryView from an object", 1)
    if has_dlpack(obj):
        warn_direct("DLPack", "`StridedMemoryView.from_dlpack`")
        return import_dlpack(view, obj, stream_ptr)
    if hasattr(obj, "__cuda_array_interface__"):
        warn_direct("CUDA-array-interface", "`StridedMemoryView.from_cuda_array_interface`")
        return import_cuda_array(view, obj, stream_ptr)
    raise no_protocol_error(obj)


def view_as_cai(obj, stream_ptr, view=None):
    """`StridedMemoryView.from_cuda_array_interface` under its older name. Host only."""
    cdef StridedMemoryView result = new_view(StridedMemoryView) if view is None else view
    import_cuda_array(result, obj, stream_ptr)
    return result


def view_as_array_interface(obj, view=None):
    """`StridedMemoryView.from_array_interface` under its older name. Host only."""
    cdef StridedMemoryView result = new_view(StridedMemoryView) if view is None else view
    import_host_array(result, obj)
    return result
