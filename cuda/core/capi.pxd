# SPDX-License-Identifier: Apache-2.0
# Functions for other extensions: raw driver handles out of objects, and checks of arguments.
#
# What gives a raw handle raises RuntimeError for a closed object: a null stream would be the default
# stream. Host only, all of them.

from cuda.bindings.cydriver cimport CUcontext, CUevent, CUfunction, CUresult, CUstream

from cuda.core._core cimport (
    Context,
    Event,
    Kernel,
    Stream,
    accept_stream,
    check_open,
    check_status,
    default_stream_object,
)


cdef inline CUstream Stream_as_cu(Stream stream) except? NULL:
    check_open(stream.fields.is_open, "Stream")
    return stream.fields.raw


cdef inline int Stream_check_open(Stream stream) except -1:
    return check_open(stream.fields.is_open, "Stream")


cdef inline bint Stream_is_default_token(Stream stream) noexcept nogil:
    return stream.fields.is_default_token


cdef inline bint Stream_is_legacy_default_token(Stream stream) noexcept nogil:
    return stream.fields.is_default_token and <size_t>stream.fields.raw == 1


cdef inline Stream Stream_accept(object arg, bint allow_stream_protocol=True):
    return accept_stream(arg)


cdef inline Stream default_stream():
    return default_stream_object()


cdef inline CUevent Event_as_cu(Event event) except? NULL:
    check_open(event.native.is_open(), "Event")
    return event.native.raw()


cdef inline int Event_check_open(Event event) except -1:
    return check_open(event.native.is_open(), "Event")


cdef inline CUcontext Context_as_cu(Context context) except? NULL:
    check_open(context.native.is_open(), "Context")
    return context.native.raw()


cdef inline int Context_check_open(Context context) except -1:
    return check_open(context.native.is_open(), "Context")


# As every launch function of the driver takes it: a kernel counts as a function.
cdef inline CUfunction Kernel_as_cu(Kernel kernel) noexcept:
    return <CUfunction>kernel.fields.raw


# CUDAError unless the status is success: 0, or -1.
cdef inline int HANDLE_RETURN(CUresult code) except? -1 nogil:
    return check_status(code)
