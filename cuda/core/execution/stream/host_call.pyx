# SPDX-License-Identifier: Apache-2.0
# Host functions called in stream order.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer


cdef uintptr_t native_address(object fn) except? 0:
    """Return the address of a ctypes function of the right prototype; 0 for a Python callable."""
    ctypes = sys.modules.get("ctypes")
    # While another thread imports ctypes, the module may lack its classes.
    if not isinstance(fn, getattr(ctypes, "_CFuncPtr", ())):
        return 0
    argument_types = tuple(fn.argtypes or ())
    if fn.restype is not None or argument_types != (ctypes.c_void_p,):
        raise TypeError(
            f"this ctypes function has restype={fn.restype} and argtypes={argument_types}, but "
            "CUDA needs a CUhostFn-compatible callback: create it with "
            "ctypes.CFUNCTYPE(None, ctypes.c_void_p), or pass a Python callable")
    return ctypes.cast(fn, ctypes.c_void_p).value


cdef int set_argument(host_call* host, object user_data) except -1:
    if user_data is None:
        return 0
    if isinstance(user_data, int):
        host.argument = <void*><uintptr_t>address_option("user_data", "a host function", user_data)
        return 0
    cdef Py_buffer view
    if not PyObject_CheckBuffer(user_data):
        raise TypeError(f"user_data must be an int or bytes-like, got {qualified_name(user_data)}")
    PyObject_GetBuffer(user_data, &view, PyBUF_SIMPLE)
    try:
        return copy_argument(host[0], view.buf, view.len)
    finally:
        PyBuffer_Release(&view)


cdef host_call* prepare_host_call(object fn, object user_data) except NULL:
    if not callable(fn):
        raise TypeError(f"callback must be callable, got {qualified_name(fn)}")
    address = native_address(fn)
    if address == 0 and user_data is not None:
        raise ValueError("user_data is only supported with ctypes function pointers: bind it to "
                         "the Python callable instead")
    gate.expect_callbacks()
    host = make_host_call(fn)
    host.native = <native_function>address
    try:
        set_argument(host, user_data)
    except BaseException:
        discard(host)
        raise
    return host


cdef int submit_host_call(Stream stream, object fn, object user_data) except -1:
    cdef borrowed_stream native_stream
    host = prepare_host_call(fn, user_data)
    try:
        native_stream = stream.native.borrow_open(stream)
        if is_being_captured(native_stream):
            # A graph may repeat the call after the first run released its references.
            raise RuntimeError("launch_host cannot be captured into a graph")
        with nogil:
            call(driver.cuLaunchHostFunc, native_stream.raw(), run_host_call, host)
    except BaseException:
        discard(host)
        raise


def host_launch(stream, fn, *, user_data=None):
    """Call a host function after all earlier work of a stream has completed.

    Stream-ordered. The function form of `Stream.launch_host`, for any stream-like object.

    Parameters
    ----------
    stream : Stream or object with ``__cuda_stream__``
        The stream that orders the call; later work of the stream waits for the function.
    fn : callable or ctypes function
        Function, as for `Stream.launch_host`.
    user_data : int or bytes-like, optional
        Argument of a ctypes function, as for `Stream.launch_host`.

    See Also
    --------
    cuLaunchHostFunc : the driver function.
    """
    submit_host_call(accept_stream(stream), fn, user_data)
