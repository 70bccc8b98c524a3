# SPDX-License-Identifier: Apache-2.0
# The call that invalidated a capture, for the error at its end.

from cuda.bindings.cydriver cimport (
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
)

cdef object invalidating_call = None  # text about the call that invalidated the last capture


cdef int record_capture_error(object error, CUresult code) except -1:
    """Record the first call that invalidated the capture, for the error at its end."""
    global invalidating_call
    if not CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED <= code <= CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return 0
    if captures_under_way() and invalidating_call is None:
        frame = sys._getframe()
        invalidating_call = (f"{error.where or 'a driver call'} at {frame.f_code.co_filename}:"
                             f"{frame.f_lineno} failed with {error.name}")
    return 0


cdef int clear_capture_error() except -1:
    global invalidating_call
    invalidating_call = None
    return 0


cdef str capture_error_text():
    return invalidating_call or ""
