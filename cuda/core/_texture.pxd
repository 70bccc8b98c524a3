# SPDX-License-Identifier: Apache-2.0
# The cimport interface of arrays, textures and graphics resources.

from cuda.core._core cimport (
    CUdeviceptr,
    CUresult,
    context_handle,
    context_instance,
    held,
    initialized,
    stream_ref,
    translate_exception,
)
from libc.stdint cimport uintptr_t

include "texture/texture_cpp.pxd"
include "texture/texture.pxd"
