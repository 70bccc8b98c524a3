# SPDX-License-Identifier: Apache-2.0
# The cimport contract of memory at a place.

from cuda.core._core cimport Buffer, MemoryResource, _MemPool, _ShareablePool

include "memory/located/resources.pxd"
