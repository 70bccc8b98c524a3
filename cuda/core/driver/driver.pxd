# SPDX-License-Identifier: Apache-2.0
# Driver types, the two forms of a driver call, and the table of driver functions.

from libc.stdint cimport int8_t, int32_t, intptr_t, uintptr_t


from cuda.bindings.cydriver cimport (
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    CU_EVENT_BLOCKING_SYNC,
    CU_EVENT_DEFAULT,
    CU_EVENT_DISABLE_TIMING,
    CU_EVENT_INTERPROCESS,
    CU_STREAM_CAPTURE_STATUS_NONE,
    CU_STREAM_DEFAULT,
    CU_STREAM_LEGACY,
    CU_STREAM_NON_BLOCKING,
    CU_STREAM_PER_THREAD,
    CUDA_ERROR_FILE_NOT_FOUND,
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_INVALID_HANDLE,
    CUDA_ERROR_INVALID_IMAGE,
    CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_NOT_FOUND,
    CUDA_ERROR_NOT_INITIALIZED,
    CUDA_ERROR_NOT_READY,
    CUDA_ERROR_OUT_OF_MEMORY,
    CUDA_SUCCESS,
    CUcontext,
    CUdevice,
    CUdevice_attribute,
    CUdevResource,
    CUdevResourceType,
    CUevent,
    CUfunction,
    CUkernel,
    CUresult,
    CUstream,
    CUstreamCaptureStatus,
    CUuuid,
)
from cuda.core._driver_table cimport driver


cdef extern from "python/errors.hpp" namespace "halfwarp::python" nogil:
    void translate_exception()
    bint is_finalizing() noexcept
    # Raises unless the status is success; `function` names the driver function.
    int check(CUresult code, const char* function) except -1


cdef extern from "python/lock/gil.hpp" namespace "halfwarp::python":
    # submit_call(driver.cuX, ...) is try_call for a thread that holds the GIL; it releases the GIL
    # unless no other thread can need it.
    CUresult submit_call(...) noexcept


cdef extern from "python/errors.hpp" namespace "halfwarp::python":
    void set_cleanup_warning(object warning_class) noexcept
    int raise_uninitialized(object) except -1
    ctypedef int (*raise_function)(CUresult, const char*) except -1
    raise_function raise_driver_error_in_cpp "halfwarp::python::raise_driver_error"
    object (*show_value_in_cpp "halfwarp::python::show_value")(object)


cdef extern from "driver/call.hpp" namespace "halfwarp::driver" nogil:
    cppclass loader_api:
        const char* (*backend)() noexcept
    const loader_api* loader "halfwarp::driver::loader"
    const char* HALFWARP_LOADER_CAPSULE "HALFWARP_LOADER_CAPSULE"
    void attach_driver "halfwarp::driver::attach"(const loader_api*) noexcept

    # call(driver.cuX, ...) raises unless the driver returns success; try_call returns the status.
    void call(...) except +translate_exception
    CUresult try_call(...) noexcept
