# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays: copies of rows and slices; mipmapped arrays, and surfaces."""

import numpy as np
import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Kind = runtime.cudaMemcpyKind
UP, DOWN = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost
FLOATS = runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat
UNSIGNED = runtime.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
ROW = 16 * 4  # row size in bytes of the arrays here


@pytest.fixture
def array():
    """Create arrays of 16 floats a row, which are freed after the test."""
    created = []

    def make(height=8, depth=0, flags=0):
        extent = runtime.make_cudaExtent(16, height, depth)
        channels = ok(runtime.cudaCreateChannelDesc(32, 0, 0, 0, FLOATS))
        created.append(ok(runtime.cudaMalloc3DArray(channels, extent, flags)))
        return created[-1]

    yield make
    for each in created:
        ok(runtime.cudaFreeArray(each))


def floats(*shape):
    return np.random.default_rng(seed=5).random(shape, dtype=np.float32)


def fill(array, values):
    at, height = values.ctypes.data, values.size // 16
    ok(runtime.cudaMemcpy2DToArray(array, 0, 0, at, ROW, ROW, height, UP))


def contents(array, height=8):
    received = np.zeros((height, 16), np.float32)
    ok(runtime.cudaMemcpy2DFromArray(received.ctypes.data, ROW, array, 0, 0, ROW, height, DOWN))
    return received


def test_rows_are_copied_to_an_array_and_back(array):
    sent, handle = floats(8, 16), array()
    fill(handle, sent)
    assert np.array_equal(contents(handle), sent)


def test_a_part_of_an_array_is_read_at_its_offset(array):
    sent, handle, received = floats(8, 16), array(), np.zeros((3, 4), np.float32)
    fill(handle, sent)
    ok(runtime.cudaMemcpy2DFromArray(received.ctypes.data, 16, handle, 20, 2, 16, 3, DOWN))
    assert np.array_equal(received, sent[2:5, 5:9])


def test_rows_are_copied_to_an_array_and_back_in_a_stream(array, stream):
    sent, received, handle = floats(4, 16), np.zeros((4, 16), np.float32), array(4)
    target, source = received.ctypes.data, sent.ctypes.data
    ok(runtime.cudaMemcpy2DToArrayAsync(handle, 0, 0, source, ROW, ROW, 4, UP, stream))
    ok(runtime.cudaMemcpy2DFromArrayAsync(target, ROW, handle, 0, 0, ROW, 4, DOWN, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(received, sent)


def test_whole_rows_are_copied_as_contiguous_bytes_in_a_stream(array, stream):
    sent, received, handle = floats(6, 16), np.zeros((3, 16), np.float32), array(6)
    ok(runtime.cudaMemcpyToArrayAsync(handle, 0, 0, sent.ctypes.data, 6 * ROW, UP, stream))
    ok(runtime.cudaMemcpyFromArrayAsync(received.ctypes.data, handle, 0, 2, 3 * ROW, DOWN, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(received, sent[2:5])


def test_a_part_of_one_array_is_copied_to_another(array):
    sent, source, target = floats(8, 16), array(), array()
    fill(source, sent)
    fill(target, np.zeros((8, 16), np.float32))
    device = Kind.cudaMemcpyDeviceToDevice
    ok(runtime.cudaMemcpy2DArrayToArray(target, 8, 5, source, 16, 1, 24, 2, device))
    expected = np.zeros((8, 16), np.float32)
    expected[5:7, 2:8] = sent[1:3, 4:10]
    assert np.array_equal(contents(target), expected)


def test_slices_are_copied_to_an_array_and_back_in_a_stream(array, stream):
    sent, received = floats(3, 4, 16), np.zeros((2, 2, 8), np.float32)
    handle = array(4, 3)
    up = runtime.cudaMemcpy3DParms()
    up.srcPtr = runtime.make_cudaPitchedPtr(sent.ctypes.data, ROW, 16, 4)
    up.dstArray, up.kind = handle, UP
    up.extent = runtime.make_cudaExtent(16, 4, 3)
    down = runtime.cudaMemcpy3DParms()
    down.srcArray, down.kind = handle, DOWN
    down.srcPos = runtime.make_cudaPos(4, 2, 1)  # in elements, since an array is involved
    down.dstPtr = runtime.make_cudaPitchedPtr(received.ctypes.data, 32, 8, 2)
    down.extent = runtime.make_cudaExtent(8, 2, 2)
    ok(runtime.cudaMemcpy3DAsync(up, stream))
    ok(runtime.cudaMemcpy3DAsync(down, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(received, sent[1:, 2:, 4:12])


def test_an_array_returns_its_channels(array):
    channels = ok(runtime.cudaGetChannelDesc(array()))
    assert (channels.x, channels.y, channels.z, channels.w, channels.f) == (32, 0, 0, 0, FLOATS)


def test_each_mipmap_level_has_half_the_previous_size():
    channels = ok(runtime.cudaCreateChannelDesc(8, 8, 0, 0, UNSIGNED))
    extent = runtime.make_cudaExtent(16, 8, 0)
    mipmapped = ok(runtime.cudaMallocMipmappedArray(channels, extent, 3, 0))
    try:
        for level in range(3):
            array = ok(runtime.cudaGetMipmappedArrayLevel(mipmapped, level))
            channels_of_level, size, _ = ok(runtime.cudaArrayGetInfo(array))
            assert (size.width, size.height, size.depth) == (16 >> level, 8 >> level, 0)
            assert (
                channels_of_level.x,
                channels_of_level.y,
                channels_of_level.z,
                channels_of_level.f,
            ) == (8, 8, 0, UNSIGNED)
        code = runtime.cudaGetMipmappedArrayLevel(mipmapped, 3)[0]
        assert code == Error.cudaErrorInvalidValue
    finally:
        ok(runtime.cudaFreeMipmappedArray(mipmapped))


def test_a_surface_returns_its_array(array):
    descriptor = runtime.cudaResourceDesc()
    descriptor.resType = runtime.cudaResourceType.cudaResourceTypeArray
    descriptor.res.array.array = array(flags=runtime.cudaArraySurfaceLoadStore)
    surface = ok(runtime.cudaCreateSurfaceObject(descriptor))
    reported = ok(runtime.cudaGetSurfaceObjectResourceDesc(surface))
    assert reported.resType == descriptor.resType
    assert int(reported.res.array.array) == int(descriptor.res.array.array)
    ok(runtime.cudaDestroySurfaceObject(surface))


def test_a_surface_can_be_created_from_any_array(array):
    """Drivers do not check the flag of the array; `SurfaceObject` of cuda.core does."""
    descriptor = runtime.cudaResourceDesc()
    descriptor.resType = runtime.cudaResourceType.cudaResourceTypeArray
    descriptor.res.array.array = array()
    ok(runtime.cudaDestroySurfaceObject(ok(runtime.cudaCreateSurfaceObject(descriptor))))
    descriptor.resType = runtime.cudaResourceType.cudaResourceTypeMipmappedArray
    assert runtime.cudaCreateSurfaceObject(descriptor)[0] != Error.cudaSuccess


@pytest.mark.parametrize(
    ("x", "y", "count"), [(0, 0, 3 * ROW), (8, 1, ROW), (8, 0, 20), (60, 2, 4), (0, 7, ROW)]
)
def test_contiguous_bytes_continue_in_the_next_row(array, x, y, count):
    sent, handle = floats(8, 16), array()
    fill(handle, np.zeros((8, 16), np.float32))
    ok(runtime.cudaMemcpyToArray(handle, x, y, sent.ctypes.data, count, UP))
    expected = np.zeros(8 * 16, np.float32)
    start = (y * ROW + x) // 4
    expected[start : start + count // 4] = sent.ravel()[: count // 4]
    assert np.array_equal(contents(handle).ravel(), expected)
    received = np.zeros(count // 4, np.float32)
    ok(runtime.cudaMemcpyFromArray(received.ctypes.data, handle, x, y, count, DOWN))
    assert np.array_equal(received, sent.ravel()[: count // 4])


def test_a_copy_beyond_the_row_or_the_array_is_refused(array):
    handle, sent = array(), floats(8, 16)
    for x, y, count in ((ROW, 0, 4), (0, 7, ROW + 4), (0, 8, 4)):
        code = runtime.cudaMemcpyToArray(handle, x, y, sent.ctypes.data, count, UP)[0]
        assert code == Error.cudaErrorInvalidValue
