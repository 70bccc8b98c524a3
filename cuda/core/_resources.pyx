# SPDX-License-Identifier: Apache-2.0
"""The extension behind `DeviceResources`: a device's SMs and workqueues, and their partition."""

cimport cython
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free

from importlib import import_module

cimport cuda.bindings.cydriver as cydriver
from cuda.core._core cimport (
    Context,
    as_options,
    device_of_ordinal,
    get_context_resource,
    initialize_driver,
    make_green_context,
    public_object,
    raise_driver_error,
)

from cuda.core._core import _complete_classes

include "execution/resources/driver_calls.pyx"
include "execution/resources/sm_resource.pyx"
include "execution/resources/workqueue_resource.pyx"
include "execution/resources/device_resources.pyx"
include "execution/resources/green_context.pyx"

_complete_classes(globals(), __name__)
