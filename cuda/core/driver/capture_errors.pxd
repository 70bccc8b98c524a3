# SPDX-License-Identifier: Apache-2.0
# The call that invalidated a capture, for the error at its end. The next capture clears it.

cdef extern from "python/launch/launch_modes.hpp" namespace "halfwarp::python":
    # Number of builders that are capturing and retain operands; at 0 operations skip all checks.
    int captures_under_way "halfwarp::python::captures_under_way.load"() noexcept
    void count_capture(int change) noexcept

cdef int record_capture_error(object error, CUresult code) except -1
cdef int clear_capture_error() except -1
cdef str capture_error_text()
