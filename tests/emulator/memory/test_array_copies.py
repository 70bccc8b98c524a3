# SPDX-License-Identifier: Apache-2.0
"""Copies by bytes between arrays, host and device memory; fills of rows; copies to a peer."""

import numpy as np
import pytest
from cuda.bindings import driver as cu

pytestmark = pytest.mark.usefixtures("driver")


def ok(result):
    code, *outputs = result
    assert int(code) == 0, code
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@pytest.fixture
def array():
    """Create arrays of 64 bytes, without rows."""
    created = []

    def make():
        descriptor = cu.CUDA_ARRAY_DESCRIPTOR()
        descriptor.Width, descriptor.Format = 16, cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32
        descriptor.NumChannels = 1
        created.append(ok(cu.cuArrayCreate(descriptor)))
        return created[-1]

    yield make
    for each in created:
        ok(cu.cuArrayDestroy(each))


@pytest.fixture
def stream():
    new_stream = ok(cu.cuStreamCreate(1))
    yield new_stream
    ok(cu.cuStreamDestroy(new_stream))


@pytest.fixture
def memory():
    """Allocate zeroed device memory, which is freed after the test."""
    created = []

    def allocate(size):
        created.append(ok(cu.cuMemAlloc(size)))
        ok(cu.cuMemsetD8(created[-1], 0, size))
        ok(cu.cuCtxSynchronize())
        return int(created[-1])

    yield allocate
    for each in created:
        ok(cu.cuMemFree(each))


def numbers(size=64):
    return np.random.default_rng(seed=2).integers(0, 256, size, dtype=np.uint8)


def contents(address, size=64):
    received = np.empty(size, np.uint8)
    ok(cu.cuMemcpyDtoH(received.ctypes.data, address, size))
    return received


def filled(array, values):
    ok(cu.cuMemcpyHtoA(array, 0, values.ctypes.data, values.size))
    return array


def test_a_stream_copies_bytes_to_and_from_an_array(array, stream):
    sent, received, handle = numbers(), np.zeros(40, np.uint8), array()
    ok(cu.cuMemcpyHtoAAsync(handle, 0, sent.ctypes.data, 64, stream))
    ok(cu.cuMemcpyAtoHAsync(received.ctypes.data, handle, 16, 40, stream))
    ok(cu.cuStreamSynchronize(stream))
    assert np.array_equal(received, sent[16:56])


def test_device_bytes_are_copied_to_and_from_an_array(array, memory):
    sent, source, target, handle = numbers(), memory(64), memory(64), array()
    ok(cu.cuMemcpyHtoD(source, sent.ctypes.data, 64))
    filled(handle, np.zeros(64, np.uint8))
    ok(cu.cuMemcpyDtoA(handle, 32, source + 8, 16))
    ok(cu.cuMemcpyAtoD(target + 4, handle, 28, 24))
    ok(cu.cuCtxSynchronize())
    expected = np.zeros(64, np.uint8)
    expected[8:24] = sent[8:24]
    assert np.array_equal(contents(target), expected)


def test_a_copy_outside_the_array_is_refused(array, memory):
    handle, address = array(), memory(64)
    invalid = cu.CUresult.CUDA_ERROR_INVALID_VALUE
    assert cu.cuMemcpyAtoD(address, handle, 60, 8)[0] == invalid
    assert cu.cuMemcpyDtoA(handle, 60, address, 8)[0] == invalid
    assert not contents(address).any()


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("is_queued", [False, True], ids=["at once", "in a stream"])
def test_a_fill_of_rows_leaves_the_gaps(memory, stream, bits, is_queued):
    address, size = memory(4 * 32), bits // 8
    fill = getattr(cu, f"cuMemsetD2D{bits}{'Async' if is_queued else ''}")
    value = int.from_bytes(bytes(range(1, size + 1)), "little")
    ok(fill(address + 32, 32, value, 3, 2, *([stream] if is_queued else [])))
    ok(cu.cuCtxSynchronize())
    expected = np.zeros((4, 32), np.uint8)
    expected[1:3, : 3 * size] = list(range(1, size + 1)) * 3
    assert np.array_equal(contents(address, 128).reshape(4, 32), expected)


def test_a_context_is_its_own_peer(memory, stream):
    context, sent = ok(cu.cuCtxGetCurrent()), numbers()
    source, middle, target = memory(64), memory(64), memory(64)
    ok(cu.cuMemcpyHtoD(source, sent.ctypes.data, 64))
    ok(cu.cuMemcpyPeer(middle, context, source, context, 64))
    ok(cu.cuCtxSynchronize())
    ok(cu.cuMemcpyPeerAsync(target, context, middle + 32, context, 32, stream))
    ok(cu.cuStreamSynchronize(stream))
    assert np.array_equal(contents(target, 32), sent[32:])


def test_page_locked_memory_reports_that_devices_reach_it():
    address = ok(cu.cuMemHostAlloc(64, cu.CU_MEMHOSTALLOC_DEVICEMAP))
    assert ok(cu.cuMemHostGetFlags(address)) & cu.CU_MEMHOSTALLOC_DEVICEMAP
    ok(cu.cuMemFreeHost(address))
    code = cu.cuMemHostGetFlags(address)[0]
    assert code == cu.CUresult.CUDA_ERROR_INVALID_VALUE
