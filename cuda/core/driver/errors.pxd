# SPDX-License-Identifier: Apache-2.0
# Exceptions for what the driver answers, and the contract of closed objects.

# Raises CUDAError (OutOfMemoryError for code 2) for a driver function that answered `code`, unless
# an error is set already. `function` may be NULL. Always -1.
cdef int raise_driver_error(CUresult code, const char* function) except -1

# CUDAError unless the status is success; for other extensions, whose driver table is their own.
cdef int check_status(CUresult code) except? -1 nogil

# The exception itself, for callers that add to it.
cdef object driver_error(CUresult code, const char* function)

# The exception for an NVRTC status; `log` may be None.
cdef int extend_error(object error, str more) except -1

cdef object nvrtc_error(int code, const char* function, str log)

# Every class that can be closed calls this before an operation reaches CUDA.
cdef inline int check_open(bint is_open, str class_name) except -1:
    if not is_open:
        return raise_closed(class_name)
    return 0

cdef int raise_closed(str class_name) except -1

# One DeprecationWarning at the caller's line.
cdef int warn_deprecated(str old, str new) except -1

# The low layer's member for a status; None for a number that it does not have.
cdef object enum_member(str module, str enum, int code)
