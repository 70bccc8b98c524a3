# SPDX-License-Identifier: Apache-2.0
# Exceptions for status codes of the driver, and the check of closed objects.

# Raises CUDAError (OutOfMemoryError for code 2) for a driver function that returned `code`, unless
# an error is set already. `function` may be NULL. Returns -1.
cdef int raise_driver_error(CUresult code, const char* function) except -1

# Raises CUDAError unless the status is success; for extensions with their own driver table.
cdef int check_status(CUresult code) except? -1 nogil

# Creates the exception, for callers that extend it.
cdef object driver_error(CUresult code, const char* function)

# Inserts text into the message of an error, before the name of the function.
cdef int extend_error(object error, str addition) except -1

# Sets the second line of a message; it replaces the explanation of the emulator.
cdef int explain_error(object error, str explanation) except -1

# Creates the exception for an NVRTC status; `log` may be None.
cdef object nvrtc_error(int code, const char* function, str log)

# Raises RuntimeError for a closed object; call before an operation reaches CUDA.
cdef inline int check_open(bint is_open, str class_name) except -1:
    if not is_open:
        return raise_closed(class_name)
    return 0

# Returns a field that a constructor sets, or raises RuntimeError if it is None.
cdef object require_set(object owner, object value)

cdef int raise_closed(str class_name) except -1

# Gives a DeprecationWarning at the caller's line.
cdef int warn_deprecated(str old, str new) except -1

# Returns the enumeration member of a status in cuda.bindings; None for an unknown number.
cdef object enum_member(str module, str enum, int code)

cdef extern from "python/launch/launch_modes.hpp" namespace "halfwarp::python":
    # Number of builders that are capturing and retain operands; at 0 operations skip all checks.
    int captures_under_way "halfwarp::python::captures_under_way.load"() noexcept
    void count_capture(int change) noexcept

# The call that invalidated a capture, for the error at its end. The next capture clears it.
cdef void record_capture_error(object error, CUresult code) except *
cdef int clear_capture_error() except -1
cdef str capture_error_text()
