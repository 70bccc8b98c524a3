# SPDX-License-Identifier: Apache-2.0
# Functions exported to other Cython code: driver handles of objects, and launches.

cdef extern from "python/foreign/abi.hpp":
    const int HALFWARP_CORE_ABI

_abi_number = HALFWARP_CORE_ABI


cdef CUstream Stream_as_cu(Stream stream) except? NULL:
    return stream.native.borrow_open(stream).raw()


cdef CUevent Event_as_cu(Event event) except NULL:
    return event.native.borrow_open(event).raw()


cdef CUcontext Context_as_cu(Context context) except NULL:
    return context.native.borrow_open(context).raw()


cdef CUdeviceptr Buffer_as_cu(Buffer buffer) except? 0:
    check_open(buffer.fields.is_open, "Buffer")
    return buffer.fields.pointer


cdef size_t Buffer_size(Buffer buffer) noexcept nogil:
    return buffer.fields.size


cdef CUkernel Kernel_as_cu(Kernel kernel) noexcept nogil:
    return kernel.native.value_or_null().raw()


cdef CUfunction Kernel_as_function(Kernel kernel) noexcept nogil:
    return function_of(kernel.native.value_or_null())


cdef int Stream_check_open(Stream stream) except -1:
    stream.native.check_open(stream)


cdef int Event_check_open(Event event) except -1:
    event.native.check_open(event)


cdef int Context_check_open(Context context) except -1:
    context.native.check_open(context)


cdef bint Stream_is_default_token(Stream stream) noexcept nogil:
    return is_default_stream(<CUstream>stream.identity)


cdef bint Stream_is_legacy_default_token(Stream stream) noexcept nogil:
    return stream.identity <= <uintptr_t>CU_STREAM_LEGACY


cdef CUresult launch_raw(CUstream stream, LaunchConfig config, Kernel kernel,
                         void** arguments) except? CUDA_ERROR_NOT_FOUND nogil:
    cdef CUlaunchConfig native = config.fields.native
    cdef CUlaunchAttribute[most_attributes] all
    native.hStream = stream
    native.attrs = config.fields.attributes
    if config.fields.further is not NULL:
        native.numAttrs = gather_attributes(config.fields, config.fields.further, all)
        native.attrs = all
    return try_call(driver.cuLaunchKernelEx, &native, Kernel_as_function(kernel), arguments, NULL)


cdef launch_entry PreparedLaunch_entry(PreparedLaunch prepared) noexcept nogil:
    return prepared.fields.entry


cdef void* PreparedLaunch_state(PreparedLaunch prepared) noexcept nogil:
    return prepared.fields.launch
