# SPDX-License-Identifier: Apache-2.0
# Host functions in the order of a stream.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer


cdef uintptr_t native_address(object fn) except? 0:
    """The address behind a ctypes function of the right prototype; 0 for a Python callable."""
    ctypes = sys.modules.get("ctypes")
    # While another thread imports the module it is there without its classes.
    if not isinstance(fn, getattr(ctypes, "_CFuncPtr", ())):
        return 0
    argument_types = tuple(fn.argtypes or ())
    if fn.restype is not None or argument_types != (ctypes.c_void_p,):
        raise TypeError(
            f"this ctypes function has restype={fn.restype} and argtypes={argument_types}, but "
            "CUDA needs a CUhostFn-compatible callback: make it with "
            "ctypes.CFUNCTYPE(None, ctypes.c_void_p), or give a Python callable")
    return ctypes.cast(fn, ctypes.c_void_p).value


cdef int set_argument(host_call* made, object user_data) except -1:
    if user_data is None:
        return 0
    if isinstance(user_data, int):
        made.argument = <void*><uintptr_t>user_data
        return 0
    cdef Py_buffer view
    if not PyObject_CheckBuffer(user_data):
        raise TypeError(f"user_data must be an int or bytes-like, got {qualified_name(user_data)}")
    PyObject_GetBuffer(user_data, &view, PyBUF_SIMPLE)
    try:
        return copy_argument(made[0], view.buf, view.len)
    finally:
        PyBuffer_Release(&view)


cdef host_call* prepare_host_call(object fn, object user_data) except NULL:
    if not callable(fn):
        raise TypeError(f"callback must be callable, got {qualified_name(fn)}")
    address = native_address(fn)
    if address == 0 and user_data is not None:
        raise ValueError("user_data is only supported with ctypes function pointers: bind it to "
                         "the Python callable instead")
    made = make_host_call(fn)
    made.native = <native_function>address
    try:
        set_argument(made, user_data)
    except BaseException:
        discard(made)
        raise
    return made


cdef int submit_host_call(Stream stream, object fn, object user_data) except -1:
    cdef CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE
    cdef borrowed_stream on
    made = prepare_host_call(fn, user_data)
    try:
        on = stream.native.borrow_open(stream)
        call(driver.cuStreamIsCapturing, on.raw(), &status)
        if status != CU_STREAM_CAPTURE_STATUS_NONE:
            # A graph may run the call again, when this one has given its references up.
            raise RuntimeError("launch_host cannot be captured into a graph")
        with nogil:
            call(driver.cuLaunchHostFunc, on.raw(), run_host_call, made)
    except BaseException:
        discard(made)
        raise
    return 0


def host_launch(stream, fn, *, user_data=None):
    """Call a host function once all earlier work of a stream is finished.

    Stream-ordered. The function form of `Stream.launch_host`, for any stream-like object.

    Parameters
    ----------
    stream : Stream or object with ``__cuda_stream__``
        The stream whose work comes before; its later work waits for the call.
    fn : callable or ctypes function
        As for `Stream.launch_host`.
    user_data : int or bytes-like, optional
        As for `Stream.launch_host`.

    See Also
    --------
    cuLaunchHostFunc : the driver function.
    """
    submit_host_call(accept_stream(stream), fn, user_data)
