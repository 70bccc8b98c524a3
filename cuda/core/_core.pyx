# SPDX-License-Identifier: Apache-2.0
"""The extension behind `cuda.core`, with a folder for each topic and a file for each concept."""

cimport cython
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.exc cimport PyErr_CheckSignals, PyErr_Occurred, PyErr_WarnEx
from cpython.number cimport PyIndex_Check
from cpython.object cimport PyObject, PyObject_GenericGetDict
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.string cimport memcpy, memset

import operator
import os
import sys

from collections.abc import Mapping
from importlib import import_module

include "extension/start.pyx"
include "driver/errors.pyx"
include "driver/driver_log.pyx"
include "driver/recorder.pyx"
include "driver/initialization.pyx"
include "extension/new_instance.pyx"
include "arguments/options.pyx"
include "arguments/bindings_objects.pyx"
include "arguments/integers.pyx"
include "execution/context.pyx"
include "execution/stream/event.pyx"
include "execution/stream/creation.pyx"
include "execution/stream/stream.pyx"
include "execution/stream/stream_protocol.pyx"
include "execution/stream/default_stream.pyx"
include "execution/stream/host_call.pyx"
include "execution/stream/captured.pyx"
include "execution/stream/retained.pyx"
include "execution/launch_config/attribute_kinds.pyx"
include "execution/launch_config/attributes.pyx"
include "execution/launch_config/launch_config.pyx"
include "memory/pool/freeing.pyx"
include "memory/deallocation.pyx"
include "memory/buffers/buffer_memory.pyx"
include "memory/memory_resource.pyx"
include "memory/buffers/imported_tensor.pyx"
include "memory/buffers/imported_interface.pyx"
include "memory/buffers/foreign_memory.pyx"
include "memory/buffers/buffer.pyx"
include "memory/buffers/captured_operands.pyx"
include "memory/buffers/buffer_copies.pyx"
include "memory/buffers/buffer_dlpack.pyx"
include "memory/buffers/stream_operations.pyx"
include "memory/driver_pool.pyx"
include "memory/device_memory_resource.pyx"
include "memory/legacy_pinned_memory_resource.pyx"
include "memory/synchronous_memory_resource.pyx"
include "memory/pool/pool_memory_resource.pyx"
include "module/object_code.pyx"
include "module/link_state.pyx"
include "module/kernel.pyx"
include "module/kernel_attributes.pyx"
include "module/kernel_occupancy.pyx"
include "execution/launch/kernel_arguments.pyx"
include "execution/launch/launch.pyx"
include "execution/launch/launch_limits.pyx"
include "execution/launch/prepared_launch.pyx"
include "execution/device_properties.pyx"
include "execution/device.pyx"
include "execution/thread_devices.pyx"
include "execution/device_scope.pyx"
include "extension/capi_functions.pyx"
include "extension/absent_operators.pyx"
include "extension/classes.pyx"
