# SPDX-License-Identifier: Apache-2.0
"""The extension of memory with a chosen location: pinned, managed and virtual memory.

It also has prefetches, copies with location hints, and peer access.
"""

cimport cython

import dataclasses
import os
import sys
import weakref

from collections.abc import Sequence
from importlib import import_module
from threading import RLock
from uuid import uuid4

from cpython.exc cimport PyErr_SetFromErrno, PyErr_WarnEx
from libc.stdint cimport SIZE_MAX, intptr_t, uint64_t
from libc.string cimport memcmp, memset
from libcpp.vector cimport vector

cimport cuda.bindings.cydriver as cydriver
from cuda.bindings.cydriver cimport (
    CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED,
    CU_MEM_ACCESS_FLAGS_PROT_NONE,
    CU_MEM_ACCESS_FLAGS_PROT_READ,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    CU_MEM_ADVISE_SET_ACCESSED_BY,
    CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_SET_READ_MOSTLY,
    CU_MEM_ADVISE_UNSET_ACCESSED_BY,
    CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_UNSET_READ_MOSTLY,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
    CU_MEM_ALLOCATION_TYPE_MANAGED,
    CU_MEM_ALLOCATION_TYPE_PINNED,
    CU_MEM_HANDLE_TYPE_FABRIC,
    CU_MEM_HANDLE_TYPE_NONE,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    CU_MEM_HANDLE_TYPE_WIN32_KMT,
    CU_MEM_LOCATION_TYPE_DEVICE,
    CU_MEM_LOCATION_TYPE_HOST,
    CU_MEM_LOCATION_TYPE_HOST_NUMA,
    CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
    CU_MEM_LOCATION_TYPE_NONE,
    CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
    CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE,
    CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
    CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
    CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_NOT_FOUND,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_SUCCESS,
    CUdevice,
    CUdeviceptr,
    CUmem_advise,
    CUmem_range_attribute,
    CUmemAccessDesc,
    CUmemAllocationProp,
    CUmemcpyAttributes,
    CUmemGenericAllocationHandle,
    CUmemLocation,
    CUresult,
    CUstream,
    CUstreamCaptureStatus,
)
from cuda.core._core cimport (
    NOT_GIVEN,
    Device,
    Stream,
    Stream_is_legacy_default_token,
    _CopyAttributes,
    accept_stream,
    address_option,
    allocate_pool_buffer,
    as_options,
    buffer_fields,
    check_open,
    driver_version,
    has_pool_access,
    initialize_driver,
    int_option,
    is_capturing_stream,
    is_managed,
    max_size_of,
    new_instance,
    open_memory_of,
    open_pool,
    option_checks,
    public_object,
    raise_driver_error,
    raise_used_instance,
    require_set,
    run_on_stream,
    set_access_of_pool,
    sharing_module,
    shown,
    size_from,
    stream_or_default,
    stream_work,
    wrap_at_once,
    wrap_memory,
)

from cuda.core._core import CUDAError, _complete_classes
from cuda.core.memory.host import Host

include "memory/location.pyx"
include "memory/peer_access.pyx"
include "memory/pinned/pinned_memory_resource.pyx"
include "memory/managed/managed_memory_resource.pyx"
include "memory/managed/managed_buffer.pyx"
include "memory/managed/batch.pyx"
include "memory/buffers/attributed_copies.pyx"
include "memory/virtual/mappings.pyx"
include "memory/virtual/properties.pyx"
include "memory/virtual/virtual_memory_resource.pyx"
include "memory/virtual/sharing.pyx"
include "memory/adaptors/ledger.pyx"

_complete_classes(globals(), __name__)
