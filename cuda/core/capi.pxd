# SPDX-License-Identifier: Apache-2.0
# What other Cython code needs of the objects of `cuda.core`, without their private fields.
#
# Compile as C++20, with the folder `cuda/core/_include` and the CUDA headers as include paths.

from cuda.bindings.cydriver cimport (
    CUcontext,
    CUDA_ERROR_NOT_FOUND,
    CUdeviceptr,
    CUevent,
    CUfunction,
    CUkernel,
    CUlaunchAttribute,
    CUlaunchConfig,
    CUresult,
    CUstream,
    cuLaunchKernelEx,
)
from cuda.core._core cimport (
    Buffer,
    Context,
    Event,
    Kernel,
    LaunchConfig,
    PreparedLaunch,
    Stream,
    accept_launch_stream,
    accept_stream,
    check_open,
    default_stream_object,
    launch_entry,
)


# The driver handle of an open object; RuntimeError for a closed one. The object keeps it alive.

cdef inline CUstream Stream_as_cu(Stream stream) except? NULL:
    check_open(stream.fields.is_open, "Stream")
    return <CUstream>stream.fields.raw


cdef inline CUevent Event_as_cu(Event event) except NULL:
    check_open(event.native.is_open(), "Event")
    return <CUevent>event.native.raw()


cdef inline CUcontext Context_as_cu(Context context) except NULL:
    check_open(context.native.is_open(), "Context")
    return <CUcontext>context.native.raw()


cdef inline CUdeviceptr Buffer_as_cu(Buffer buffer) except? 0:
    check_open(buffer.fields.is_open, "Buffer")
    return buffer.fields.pointer


# In bytes; 0 when closed.
cdef inline size_t Buffer_size(Buffer buffer) noexcept nogil:
    return buffer.fields.size


cdef inline CUkernel Kernel_as_cu(Kernel kernel) noexcept nogil:
    return <CUkernel>kernel.fields.raw


# The same, as calls of the older kind take it.
cdef inline CUfunction Kernel_as_function(Kernel kernel) noexcept nogil:
    return <CUfunction>kernel.fields.raw


# 0, or -1 with RuntimeError set.

cdef inline int Stream_check_open(Stream stream) except -1:
    return check_open(stream.fields.is_open, "Stream")


cdef inline int Event_check_open(Event event) except -1:
    return check_open(event.native.is_open(), "Event")


cdef inline int Context_check_open(Context context) except -1:
    return check_open(context.native.is_open(), "Context")


# The open Stream that an argument stands for; with the protocol, also of an object that has
# `__cuda_stream__`. TypeError for anything else.
cdef inline Stream Stream_accept(object given, bint allow_stream_protocol=False):
    return accept_launch_stream(given) if allow_stream_protocol else accept_stream(given)


# The stream that stands for "no stream given".
cdef inline Stream default_stream():
    return default_stream_object()


cdef inline bint Stream_is_default_token(Stream stream) noexcept nogil:
    return stream.fields.is_default_token


cdef inline bint Stream_is_legacy_default_token(Stream stream) noexcept nogil:
    return stream.fields.is_default_token and <size_t>stream.fields.raw <= 1


# Launches with arguments as cuLaunchKernelEx takes them. The driver checks them, nothing else does.
cdef inline CUresult launch_raw(CUstream stream, LaunchConfig config, Kernel kernel,
                                void** arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    cdef CUlaunchConfig native = (<CUlaunchConfig*>&config.fields.native)[0]
    native.hStream = stream
    native.attrs = <CUlaunchAttribute*>config.fields.attributes
    return cuLaunchKernelEx(&native, <CUfunction>kernel.fields.raw, arguments, NULL)


# How a prepared launch is repeated from C, on any thread and without the interpreter lock:
# `entry(state, stream)`, as long as the object lives.

cdef inline launch_entry PreparedLaunch_entry(PreparedLaunch prepared) noexcept nogil:
    return prepared.fields.entry


cdef inline void* PreparedLaunch_state(PreparedLaunch prepared) noexcept nogil:
    return prepared.fields.launch
