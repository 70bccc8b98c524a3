# SPDX-License-Identifier: Apache-2.0
# Status checks of C functions, for Cython code.

from cuda.bindings cimport cynvrtc
from cuda.core._core cimport check_status as HANDLE_RETURN
from libc.stdint cimport intptr_t


# Raises NVRTCError on failure, with the log of `program` unless it is NULL.
cdef inline int HANDLE_RETURN_NVRTC(cynvrtc.nvrtcProgram program,
                                    cynvrtc.nvrtcResult status) except?-1 nogil:
    if status == cynvrtc.NVRTC_SUCCESS:
        return 0
    with gil:
        from cuda.bindings import nvrtc
        from cuda.core._utils.cuda_utils import handle_return
        handle = None if program is NULL else nvrtc.nvrtcProgram(<intptr_t>program)
        handle_return((nvrtc.nvrtcResult(<int>status),), handle)
    return -1


# Raises the exceptions of `cuda.bindings.nvvm` and `cuda.bindings.nvjitlink`.
cdef inline int HANDLE_RETURN_NVVM(int status) except?-1 nogil:
    if status == 0:
        return 0
    with gil:
        from cuda.bindings.nvvm import nvvmError
        raise nvvmError(status)


cdef inline int HANDLE_RETURN_NVJITLINK(int status) except?-1 nogil:
    if status == 0:
        return 0
    with gil:
        from cuda.bindings.nvjitlink import nvJitLinkError
        raise nvJitLinkError(status)


cdef inline object check_or_create_options(type cls, object options, str what="",
                                           bint keep_none=False):
    from cuda.core._core import check_or_create_options as check
    return check(cls, options, what, keep_none=keep_none)


# Returns the ordinal of the current context's device; raises CUDAError without a context.
cdef inline int _get_current_device_id() except? -1:
    from cuda.bindings import driver
    from cuda.core._utils.cuda_utils import handle_return
    return int(handle_return(driver.cuCtxGetDevice()))
