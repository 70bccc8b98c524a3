# SPDX-License-Identifier: Apache-2.0
"""Stream-ordered allocation and its pools."""

import numpy as np
import pytest
from cuda.bindings import driver, runtime

from .conftest import ok

Attribute = runtime.cudaMemPoolAttr
Error = runtime.cudaError_t


@pytest.fixture
def pool():
    properties = runtime.cudaMemPoolProps()
    properties.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    properties.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    properties.location.id = 0
    new_pool = ok(runtime.cudaMemPoolCreate(properties))
    yield new_pool
    ok(runtime.cudaMemPoolDestroy(new_pool))


def in_use(pool):
    return int(ok(runtime.cudaMemPoolGetAttribute(pool, Attribute.cudaMemPoolAttrUsedMemCurrent)))


def test_memory_is_usable_between_its_allocation_and_its_free(stream):
    received = np.zeros(256, np.uint8)
    address = ok(runtime.cudaMallocAsync(256, stream))
    ok(runtime.cudaMemsetAsync(address, 5, 256, stream))
    down = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpyAsync(received.ctypes.data, address, 256, down, stream))
    ok(runtime.cudaFreeAsync(address, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert (received == 5).all()


def test_stream_ordered_memory_may_be_freed_synchronously(stream):
    address = ok(runtime.cudaMallocAsync(256, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    ok(runtime.cudaFree(address))


def test_a_pool_counts_its_used_memory(pool, stream):
    assert in_use(pool) == 0
    address = ok(runtime.cudaMallocFromPoolAsync(1000, pool, stream))
    assert in_use(pool) >= 1000
    ok(runtime.cudaFreeAsync(address, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert in_use(pool) == 0


def test_a_set_threshold_is_returned(pool):
    threshold = Attribute.cudaMemPoolAttrReleaseThreshold
    ok(runtime.cudaMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(1 << 20)))
    assert int(ok(runtime.cudaMemPoolGetAttribute(pool, threshold))) == 1 << 20


def test_a_pool_is_accessible_from_its_own_device(pool):
    location = runtime.cudaMemLocation()
    location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    location.id = 0
    access = ok(runtime.cudaMemPoolGetAccess(pool, location))
    assert access == runtime.cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite


def test_a_trimmed_pool_keeps_at_most_the_requested_size(pool, stream):
    address = ok(runtime.cudaMallocFromPoolAsync(1 << 20, pool, stream))
    ok(runtime.cudaFreeAsync(address, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    ok(runtime.cudaMemPoolTrimTo(pool, 0))
    reserved = Attribute.cudaMemPoolAttrReservedMemCurrent
    assert int(ok(runtime.cudaMemPoolGetAttribute(pool, reserved))) == 0


def test_another_pool_replaces_the_default_pool(pool, stream):
    default = ok(runtime.cudaDeviceGetDefaultMemPool(0))
    before = ok(runtime.cudaDeviceGetMemPool(0))
    ok(runtime.cudaDeviceSetMemPool(0, pool))
    try:
        assert int(ok(runtime.cudaDeviceGetMemPool(0))) == int(pool)
        assert int(ok(runtime.cudaDeviceGetDefaultMemPool(0))) == int(default)
        address = ok(runtime.cudaMallocAsync(512, stream))
        assert in_use(pool) >= 512
        ok(runtime.cudaFreeAsync(address, stream))
        ok(runtime.cudaStreamSynchronize(stream))
    finally:
        ok(runtime.cudaDeviceSetMemPool(0, before))


def test_an_invalid_pool_is_refused(stream):
    assert runtime.cudaMallocFromPoolAsync(64, 0, stream)[0] != Error.cudaSuccess
