# SPDX-License-Identifier: Apache-2.0
# The cimport contract of memory with a chosen location.

from cuda.core._core cimport Buffer, MemoryResource, _MemPool, _ShareablePool

include "memory/pinned/pinned_memory_resource.pxd"
include "memory/managed/managed_memory_resource.pxd"
include "memory/virtual/virtual_memory_resource.pxd"
include "memory/managed/managed_buffer.pxd"
