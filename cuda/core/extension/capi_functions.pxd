# SPDX-License-Identifier: Apache-2.0
# Functions exported to other Cython code through `capi.pxd`, independent of object layouts.

# Returns the driver handle of an open object; RuntimeError if it is closed. The object owns the
# handle.
cdef CUstream Stream_as_cu(Stream stream) except? NULL
cdef CUevent Event_as_cu(Event event) except NULL
cdef CUcontext Context_as_cu(Context context) except NULL
cdef CUdeviceptr Buffer_as_cu(Buffer buffer) except? 0

# Returns the size in bytes; 0 for a closed Buffer.
cdef size_t Buffer_size(Buffer buffer) noexcept nogil

cdef CUkernel Kernel_as_cu(Kernel kernel) noexcept nogil

# Returns the kernel as a CUfunction, for driver calls that require one.
cdef CUfunction Kernel_as_function(Kernel kernel) noexcept nogil

# Return 0, or raise RuntimeError if the object is closed.
cdef int Stream_check_open(Stream stream) except -1
cdef int Event_check_open(Event event) except -1
cdef int Context_check_open(Context context) except -1

cdef bint Stream_is_default_token(Stream stream) noexcept nogil
cdef bint Stream_is_legacy_default_token(Stream stream) noexcept nogil

# Launches with the arguments of cuLaunchKernelEx; only the driver checks them.
cdef CUresult launch_raw(CUstream stream, LaunchConfig config, Kernel kernel,
                         void** arguments) except? CUDA_ERROR_NOT_FOUND nogil

# Function and state to repeat a prepared launch from C, on any thread and without the GIL:
# `entry(state, stream)`, while the object is alive.
cdef launch_entry PreparedLaunch_entry(PreparedLaunch prepared) noexcept nogil
cdef void* PreparedLaunch_state(PreparedLaunch prepared) noexcept nogil
