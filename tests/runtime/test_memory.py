# SPDX-License-Identifier: Apache-2.0
"""Memory: allocation, copies, fills, registration, and pointer attributes."""

import numpy as np
import pytest
from cuda.bindings import driver, runtime

from .conftest import ok

Error = runtime.cudaError_t
Kind = runtime.cudaMemcpyKind
Type = runtime.cudaMemoryType


def bytes_of(*shape):
    """Return a host array whose bytes differ from row to row."""
    return np.random.default_rng(seed=1).integers(0, 256, shape, dtype=np.uint8)


def upload(memory, host):
    address = memory(host.nbytes)
    ok(runtime.cudaMemcpy(address, host.ctypes.data, host.nbytes, Kind.cudaMemcpyHostToDevice))
    return address


def download(address, *shape):
    host = np.empty(shape, np.uint8)
    ok(runtime.cudaMemcpy(host.ctypes.data, address, host.nbytes, Kind.cudaMemcpyDeviceToHost))
    return host


def test_bytes_are_copied_to_the_device_and_back(memory):
    sent = bytes_of(1000)
    assert np.array_equal(download(upload(memory, sent), 1000), sent)


@pytest.mark.parametrize("kind", [Kind.cudaMemcpyDeviceToDevice, Kind.cudaMemcpyDefault])
def test_device_memory_is_copied_on_the_device(memory, kind):
    sent = bytes_of(1000)
    source, target = upload(memory, sent), memory(1000)
    ok(runtime.cudaMemcpy(target, source, 1000, kind))
    assert np.array_equal(download(target, 1000), sent)


@pytest.mark.parametrize("kind", [Kind.cudaMemcpyHostToHost, Kind.cudaMemcpyDefault])
def test_host_memory_is_copied_to_host_memory(kind):
    sent, received = bytes_of(1000), np.zeros(1000, np.uint8)
    ok(runtime.cudaMemcpy(received.ctypes.data, sent.ctypes.data, 1000, kind))
    assert np.array_equal(received, sent)


def test_a_default_copy_infers_the_locations(memory):
    sent, received = bytes_of(100), np.zeros(100, np.uint8)
    address = memory(100)
    ok(runtime.cudaMemcpy(address, sent.ctypes.data, 100, Kind.cudaMemcpyDefault))
    ok(runtime.cudaMemcpy(received.ctypes.data, address, 100, Kind.cudaMemcpyDefault))
    assert np.array_equal(received, sent)


def test_asynchronous_copies_keep_the_order_of_their_stream(memory, stream):
    sent, received = bytes_of(4096), np.zeros(4096, np.uint8)
    first, second = memory(4096), memory(4096)
    copy = runtime.cudaMemcpyAsync
    ok(copy(first, sent.ctypes.data, 4096, Kind.cudaMemcpyHostToDevice, stream))
    ok(copy(second, first, 4096, Kind.cudaMemcpyDeviceToDevice, stream))
    ok(copy(received.ctypes.data, second, 4096, Kind.cudaMemcpyDeviceToHost, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(received, sent)


def test_copies_between_a_device_and_itself_need_no_peer(memory):
    sent = bytes_of(100)
    source, target = upload(memory, sent), memory(100)
    ok(runtime.cudaMemcpyPeer(target, 0, source, 0, 100))
    ok(runtime.cudaDeviceSynchronize())
    assert np.array_equal(download(target, 100), sent)


@pytest.mark.parametrize("copy", ["cudaMemcpy", "cudaMemcpyAsync"])
def test_a_direction_that_does_not_exist_is_refused(memory, copy):
    address = memory(8)
    args = () if copy == "cudaMemcpy" else (0,)
    code = getattr(runtime, copy)(address, address, 4, 77, *args)[0]
    assert code == Error.cudaErrorInvalidMemcpyDirection


def test_a_copy_of_no_bytes_accepts_null(memory):
    ok(runtime.cudaMemcpy(memory(8), 0, 0, Kind.cudaMemcpyHostToDevice))


def test_a_copy_past_the_end_is_refused(memory):
    host = bytes_of(1 << 21)
    address = memory(256)
    code = runtime.cudaMemcpy(address, host.ctypes.data, 1 << 40, Kind.cudaMemcpyHostToDevice)[0]
    assert code == Error.cudaErrorInvalidValue


def test_an_empty_allocation_succeeds():
    assert ok(runtime.cudaMalloc(0)) == 0


def test_freeing_null_has_no_effect():
    ok(runtime.cudaFree(0))
    ok(runtime.cudaFreeHost(0))


def test_unallocated_memory_is_not_freed():
    assert runtime.cudaFree(12345)[0] == Error.cudaErrorInvalidValue
    assert runtime.cudaFreeHost(12345)[0] == Error.cudaErrorInvalidValue


def test_an_oversized_allocation_is_refused():
    assert runtime.cudaMalloc(1 << 46) == (Error.cudaErrorMemoryAllocation, None)


def test_allocated_memory_is_no_longer_free(memory):
    free, total = ok(runtime.cudaMemGetInfo())
    memory(free // 4)  # exceeds the memory that other programs on the device may free in between
    remaining, same_total = ok(runtime.cudaMemGetInfo())
    assert same_total == total >= free > remaining


def test_bytes_are_set(memory):
    address = upload(memory, bytes_of(64))
    ok(runtime.cudaMemset(address + 8, 0x1AB, 16))
    ok(runtime.cudaDeviceSynchronize())
    received = download(address, 64)
    assert set(received[8:24]) == {0xAB}
    assert np.array_equal(received[24:], bytes_of(64)[24:])


def test_a_fill_of_rows_leaves_the_gaps(memory):
    address = upload(memory, np.zeros((4, 32), np.uint8))
    ok(runtime.cudaMemset2D(address, 32, 7, 5, 3))
    ok(runtime.cudaDeviceSynchronize())
    received = download(address, 4, 32)
    assert received.sum() == 7 * 5 * 3
    assert (received[:3, :5] == 7).all()


@pytest.mark.parametrize("rows", [2, 4], ids=["part of each slice", "whole slices"])
def test_slices_are_set(memory, rows):
    address = upload(memory, np.zeros((3, 4, 32), np.uint8))
    pitched = runtime.make_cudaPitchedPtr(address, 32, 16, 4)
    ok(runtime.cudaMemset3D(pitched, 9, runtime.make_cudaExtent(16, rows, 3)))
    ok(runtime.cudaDeviceSynchronize())
    received = download(address, 3, 4, 32)
    assert (received[:, :rows, :16] == 9).all()
    assert received.sum() == 9 * 16 * rows * 3


def test_rows_of_a_pitched_allocation_are_aligned_and_copied(memory):
    sent = bytes_of(5, 37)
    address, pitch = ok(runtime.cudaMallocPitch(37, 5))
    assert pitch >= 37 and pitch % 32 == 0
    received = np.zeros((5, 40), np.uint8)
    up, down = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy2D(address, pitch, sent.ctypes.data, 37, 37, 5, up))
    ok(runtime.cudaMemcpy2D(received.ctypes.data, 40, address, pitch, 37, 5, down))
    ok(runtime.cudaFree(address))
    assert np.array_equal(received[:, :37], sent)
    assert not received[:, 37:].any()


def test_rows_are_copied_in_a_stream(memory, stream):
    sent, received = bytes_of(6, 32), np.zeros((3, 8), np.uint8)
    address = upload(memory, sent)
    ok(runtime.cudaDeviceSynchronize())  # a copy of pageable memory may outlast the call
    down = Kind.cudaMemcpyDefault
    ok(runtime.cudaMemcpy2DAsync(received.ctypes.data, 8, address + 32, 64, 8, 3, down, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(received, sent[1::2, :8])


def test_rows_and_slices_are_set_in_a_stream(memory, stream):
    address = upload(memory, np.zeros((3, 4, 32), np.uint8))
    ok(runtime.cudaDeviceSynchronize())
    pitched = runtime.make_cudaPitchedPtr(address, 32, 16, 4)
    ok(runtime.cudaMemset3DAsync(pitched, 9, runtime.make_cudaExtent(16, 2, 3), stream))
    ok(runtime.cudaMemset2DAsync(address, 32, 7, 5, 3, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    expected = np.zeros((3, 4, 32), np.uint8)
    expected[:, :2, :16] = 9
    expected[0, :3, :5] = 7
    assert np.array_equal(download(address, 3, 4, 32), expected)


def test_copies_between_a_device_and_itself_keep_the_order_of_their_stream(memory, stream):
    sent = bytes_of(100)
    source, middle, target = upload(memory, sent), memory(100), memory(100)
    ok(runtime.cudaDeviceSynchronize())
    ok(runtime.cudaMemcpyPeerAsync(middle, 0, source, 0, 100, stream))
    ok(runtime.cudaMemcpyPeerAsync(target, 0, middle, 0, 100, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(download(target, 100), sent)


def test_a_pitch_smaller_than_a_row_is_refused(memory):
    address = memory(1024)
    code = runtime.cudaMemcpy2D(address, 8, address + 512, 16, 16, 2, Kind.cudaMemcpyDefault)[0]
    assert code == Error.cudaErrorInvalidPitchValue


def test_slices_are_copied_out_of_the_middle():
    sent, received = bytes_of(4, 5, 32), np.zeros((2, 3, 8), np.uint8)
    device = ok(runtime.cudaMalloc3D(runtime.make_cudaExtent(32, 5, 4)))
    assert (device.xsize, device.ysize) == (32, 5)
    up = runtime.cudaMemcpy3DParms()
    up.srcPtr = runtime.make_cudaPitchedPtr(sent.ctypes.data, 32, 32, 5)
    up.dstPtr = device
    up.extent = runtime.make_cudaExtent(32, 5, 4)
    up.kind = Kind.cudaMemcpyHostToDevice
    ok(runtime.cudaMemcpy3D(up))
    down = runtime.cudaMemcpy3DParms()
    down.srcPtr = device
    down.srcPos = runtime.make_cudaPos(16, 1, 2)
    down.dstPtr = runtime.make_cudaPitchedPtr(received.ctypes.data, 8, 8, 3)
    down.extent = runtime.make_cudaExtent(8, 3, 2)
    down.kind = Kind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy3D(down))
    ok(runtime.cudaFree(device.ptr))
    assert np.array_equal(received, sent[2:, 1:4, 16:24])


def test_pinned_memory_is_accessible_from_both_sides():
    address = ok(runtime.cudaHostAlloc(64, runtime.cudaHostAllocMapped))
    try:
        assert ok(runtime.cudaHostGetDevicePointer(address, 0)) == address
        assert ok(runtime.cudaHostGetFlags(address)) & runtime.cudaHostAllocMapped
        attributes = ok(runtime.cudaPointerGetAttributes(address))
        assert attributes.type == Type.cudaMemoryTypeHost
        assert attributes.hostPointer == attributes.devicePointer == address
    finally:
        ok(runtime.cudaFreeHost(address))


def test_host_memory_of_the_program_is_registered_and_unregistered():
    host = np.zeros(8192, np.uint8)
    address = host.ctypes.data
    ok(runtime.cudaHostRegister(address, host.nbytes, runtime.cudaHostRegisterDefault))
    assert ok(runtime.cudaPointerGetAttributes(address)).type == Type.cudaMemoryTypeHost
    assert (
        runtime.cudaHostRegister(address, host.nbytes, 0)[0]
        == Error.cudaErrorHostMemoryAlreadyRegistered
    )
    ok(runtime.cudaHostUnregister(address))
    assert ok(runtime.cudaPointerGetAttributes(address)).type == Type.cudaMemoryTypeUnregistered
    assert runtime.cudaHostUnregister(address)[0] == Error.cudaErrorHostMemoryNotRegistered


def test_managed_memory_has_one_address_on_both_sides(memory):
    address = ok(runtime.cudaMallocManaged(64, runtime.cudaMemAttachGlobal))
    ok(runtime.cudaMemset(address, 3, 64))
    ok(runtime.cudaDeviceSynchronize())
    received = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * 64).from_address(address))
    assert (received == 3).all()
    assert ok(runtime.cudaPointerGetAttributes(address)).type == Type.cudaMemoryTypeManaged
    ok(runtime.cudaFree(address))


def test_an_empty_managed_allocation_is_refused():
    assert ok(runtime.cudaMallocManaged(0, runtime.cudaMemAttachGlobal)) == 0


def test_a_device_address_belongs_to_its_device_and_not_to_the_host(memory):
    address = memory(64)
    attributes = ok(runtime.cudaPointerGetAttributes(address + 16))
    assert attributes.type == Type.cudaMemoryTypeDevice
    assert (attributes.device, attributes.devicePointer, attributes.hostPointer) == (
        0,
        address + 16,
        0,
    )


def test_driver_memory_is_runtime_memory():
    address = int(ok(driver.cuMemAlloc(64)))
    assert ok(runtime.cudaPointerGetAttributes(address)).type == Type.cudaMemoryTypeDevice
    ok(runtime.cudaFree(address))


@pytest.mark.parametrize("is_async", [False, True])
def test_rows_are_copied_between_the_contexts_of_devices(memory, stream, is_async):
    sent = bytes_of(8, 16)
    source, target = upload(memory, sent), upload(memory, np.zeros((8, 16), np.uint8))
    params = runtime.cudaMemcpy3DPeerParms()
    params.srcPtr = runtime.make_cudaPitchedPtr(source, 16, 16, 8)
    params.dstPtr = runtime.make_cudaPitchedPtr(target, 16, 16, 8)
    params.srcPos, params.dstPos = runtime.make_cudaPos(2, 1, 0), runtime.make_cudaPos(5, 3, 0)
    params.extent = runtime.make_cudaExtent(7, 4, 1)
    if is_async:
        ok(runtime.cudaMemcpy3DPeerAsync(params, stream))
        ok(runtime.cudaStreamSynchronize(stream))
    else:
        ok(runtime.cudaMemcpy3DPeer(params))
        ok(runtime.cudaDeviceSynchronize())
    expected = np.zeros((8, 16), np.uint8)
    expected[3:7, 5:12] = sent[1:5, 2:9]
    assert np.array_equal(download(target, 8, 16), expected)
    params.dstDevice = 99
    assert runtime.cudaMemcpy3DPeer(params)[0] == Error.cudaErrorInvalidDevice


@pytest.mark.parametrize(("width", "height"), [(0, 4), (4, 0)])
def test_an_allocation_without_rows_is_null(width, height):
    assert ok(runtime.cudaMallocPitch(width, height)) == (0, 0)
