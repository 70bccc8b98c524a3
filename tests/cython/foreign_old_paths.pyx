# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3
"""Foreign module that cimports the paths of 12.x, each in both forms."""

from cuda cimport ccuda, ccudart, cnvrtc
from cuda.ccuda cimport CUDA_SUCCESS, CUresult, cuDriverGetVersion
from cuda.ccudart cimport cudaError_t, cudaRuntimeGetVersion
from cuda.cnvrtc cimport nvrtcResult, nvrtcVersion


def versions_by_name():
    cdef int driver = 0, runtime = 0, major = 0, minor = 0
    cdef CUresult status
    cdef cudaError_t error
    cdef nvrtcResult result
    with nogil:
        status = cuDriverGetVersion(&driver)
        error = cudaRuntimeGetVersion(&runtime)
        result = nvrtcVersion(&major, &minor)
    assert status == CUDA_SUCCESS
    return <int>status, <int>error, <int>result, driver, runtime, major, minor


def versions_by_module():
    cdef int driver = 0, runtime = 0, major = 0, minor = 0
    cdef ccuda.CUresult status = ccuda.cuDriverGetVersion(&driver)
    cdef ccudart.cudaError_t error = ccudart.cudaRuntimeGetVersion(&runtime)
    cdef cnvrtc.nvrtcResult result = cnvrtc.nvrtcVersion(&major, &minor)
    return <int>status, <int>error, <int>result, driver, runtime, major, minor
