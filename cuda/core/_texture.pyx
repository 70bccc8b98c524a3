# SPDX-License-Identifier: Apache-2.0
"""The module behind `cuda.core.texture`, in the shared object of `cuda.core._core`."""

cimport cython
from cpython.exc cimport PyErr_WarnEx
from libc.string cimport memset

from importlib import import_module

from cuda.bindings.cydriver cimport (
    CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT,
    CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT,
)
from cuda.core._core cimport *

from cuda.core._core import CUDAError, _complete_classes

include "texture/opaque_array.pyx"
include "texture/mipmapped_array.pyx"
include "texture/resource_descriptor.pyx"
include "texture/texture_object.pyx"
include "texture/surface_object.pyx"
include "texture/graphics_resource.pyx"

_complete_classes(globals(), __name__)
