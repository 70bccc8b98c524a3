# SPDX-License-Identifier: Apache-2.0
# What the extension exports for other Cython code, which knows none of the layouts: `capi.pxd`.

# The driver handle of an open object; RuntimeError for a closed one. The object keeps it alive.
cdef CUstream Stream_as_cu(Stream stream) except? NULL
cdef CUevent Event_as_cu(Event event) except NULL
cdef CUcontext Context_as_cu(Context context) except NULL
cdef CUdeviceptr Buffer_as_cu(Buffer buffer) except? 0

# In bytes; 0 when closed.
cdef size_t Buffer_size(Buffer buffer) noexcept nogil

cdef CUkernel Kernel_as_cu(Kernel kernel) noexcept nogil

# The same, as calls of the older kind take it.
cdef CUfunction Kernel_as_function(Kernel kernel) noexcept nogil

# 0, or -1 with RuntimeError set.
cdef int Stream_check_open(Stream stream) except -1
cdef int Event_check_open(Event event) except -1
cdef int Context_check_open(Context context) except -1

cdef bint Stream_is_default_token(Stream stream) noexcept nogil
cdef bint Stream_is_legacy_default_token(Stream stream) noexcept nogil

# Launches with arguments as cuLaunchKernelEx takes them. The driver checks them, nothing else does.
cdef CUresult launch_raw(CUstream stream, LaunchConfig config, Kernel kernel,
                         void** arguments) except? CUDA_ERROR_NOT_FOUND nogil

# How a prepared launch is repeated from C, on any thread and without the interpreter lock:
# `entry(state, stream)`, as long as the object lives.
cdef launch_entry PreparedLaunch_entry(PreparedLaunch prepared) noexcept nogil
cdef void* PreparedLaunch_state(PreparedLaunch prepared) noexcept nogil
