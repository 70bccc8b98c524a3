# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays: what goes in comes out, by rows and slices; mipmapped arrays, and surfaces."""

import numpy as np
import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Kind = runtime.cudaMemcpyKind
UP, DOWN = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost
FLOATS = runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat
UNSIGNED = runtime.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
ROW = 16 * 4  # bytes of a row of the arrays here


@pytest.fixture
def array():
    """Makes arrays of 16 floats a row, which go with the test."""
    made = []

    def make(height=8, depth=0, flags=0):
        extent = runtime.make_cudaExtent(16, height, depth)
        channels = ok(runtime.cudaCreateChannelDesc(32, 0, 0, 0, FLOATS))
        made.append(ok(runtime.cudaMalloc3DArray(channels, extent, flags)))
        return made[-1]

    yield make
    for each in made:
        ok(runtime.cudaFreeArray(each))


def floats(*shape):
    return np.random.default_rng(seed=5).random(shape, dtype=np.float32)


def fill(array, values):
    at, height = values.ctypes.data, values.size // 16
    ok(runtime.cudaMemcpy2DToArray(array, 0, 0, at, ROW, ROW, height, UP))


def contents(array, height=8):
    got = np.zeros((height, 16), np.float32)
    ok(runtime.cudaMemcpy2DFromArray(got.ctypes.data, ROW, array, 0, 0, ROW, height, DOWN))
    return got


def test_rows_come_back_from_an_array(array):
    sent, made = floats(8, 16), array()
    fill(made, sent)
    assert np.array_equal(contents(made), sent)


def test_a_part_of_an_array_is_read_at_its_place(array):
    sent, made, got = floats(8, 16), array(), np.zeros((3, 4), np.float32)
    fill(made, sent)
    ok(runtime.cudaMemcpy2DFromArray(got.ctypes.data, 16, made, 20, 2, 16, 3, DOWN))
    assert np.array_equal(got, sent[2:5, 5:9])


def test_rows_go_into_an_array_and_out_of_it_in_a_stream(array, stream):
    sent, got, made = floats(4, 16), np.zeros((4, 16), np.float32), array(4)
    target, source = got.ctypes.data, sent.ctypes.data
    ok(runtime.cudaMemcpy2DToArrayAsync(made, 0, 0, source, ROW, ROW, 4, UP, stream))
    ok(runtime.cudaMemcpy2DFromArrayAsync(target, ROW, made, 0, 0, ROW, 4, DOWN, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(got, sent)


def test_whole_rows_are_copied_as_one_run_of_bytes_in_a_stream(array, stream):
    sent, got, made = floats(6, 16), np.zeros((3, 16), np.float32), array(6)
    ok(runtime.cudaMemcpyToArrayAsync(made, 0, 0, sent.ctypes.data, 6 * ROW, UP, stream))
    ok(runtime.cudaMemcpyFromArrayAsync(got.ctypes.data, made, 0, 2, 3 * ROW, DOWN, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(got, sent[2:5])


def test_a_part_of_one_array_becomes_a_part_of_another(array):
    sent, source, target = floats(8, 16), array(), array()
    fill(source, sent)
    fill(target, np.zeros((8, 16), np.float32))
    device = Kind.cudaMemcpyDeviceToDevice
    ok(runtime.cudaMemcpy2DArrayToArray(target, 8, 5, source, 16, 1, 24, 2, device))
    wanted = np.zeros((8, 16), np.float32)
    wanted[5:7, 2:8] = sent[1:3, 4:10]
    assert np.array_equal(contents(target), wanted)


def test_slices_go_into_an_array_and_out_of_it_in_a_stream(array, stream):
    sent, got = floats(3, 4, 16), np.zeros((2, 2, 8), np.float32)
    made = array(4, 3)
    up = runtime.cudaMemcpy3DParms()
    up.srcPtr = runtime.make_cudaPitchedPtr(sent.ctypes.data, ROW, 16, 4)
    up.dstArray, up.kind = made, UP
    up.extent = runtime.make_cudaExtent(16, 4, 3)
    down = runtime.cudaMemcpy3DParms()
    down.srcArray, down.kind = made, DOWN
    down.srcPos = runtime.make_cudaPos(4, 2, 1)  # in elements, since an array takes part
    down.dstPtr = runtime.make_cudaPitchedPtr(got.ctypes.data, 32, 8, 2)
    down.extent = runtime.make_cudaExtent(8, 2, 2)
    ok(runtime.cudaMemcpy3DAsync(up, stream))
    ok(runtime.cudaMemcpy3DAsync(down, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert np.array_equal(got, sent[1:, 2:, 4:12])


def test_an_array_tells_its_channels(array):
    channels = ok(runtime.cudaGetChannelDesc(array()))
    assert (channels.x, channels.y, channels.z, channels.w, channels.f) == (32, 0, 0, 0, FLOATS)


def test_each_level_of_a_mipmapped_array_is_half_of_the_one_before():
    channels = ok(runtime.cudaCreateChannelDesc(8, 8, 0, 0, UNSIGNED))
    extent = runtime.make_cudaExtent(16, 8, 0)
    made = ok(runtime.cudaMallocMipmappedArray(channels, extent, 3, 0))
    try:
        for level in range(3):
            array = ok(runtime.cudaGetMipmappedArrayLevel(made, level))
            told, size, _ = ok(runtime.cudaArrayGetInfo(array))
            assert (size.width, size.height, size.depth) == (16 >> level, 8 >> level, 0)
            assert (told.x, told.y, told.z, told.f) == (8, 8, 0, UNSIGNED)
        code = runtime.cudaGetMipmappedArrayLevel(made, 3)[0]
        assert code == Error.cudaErrorInvalidValue
    finally:
        ok(runtime.cudaFreeMipmappedArray(made))


def test_a_surface_tells_the_array_behind_it(array):
    wanted = runtime.cudaResourceDesc()
    wanted.resType = runtime.cudaResourceType.cudaResourceTypeArray
    wanted.res.array.array = array(flags=runtime.cudaArraySurfaceLoadStore)
    surface = ok(runtime.cudaCreateSurfaceObject(wanted))
    told = ok(runtime.cudaGetSurfaceObjectResourceDesc(surface))
    assert told.resType == wanted.resType
    assert int(told.res.array.array) == int(wanted.res.array.array)
    ok(runtime.cudaDestroySurfaceObject(surface))


def test_a_surface_may_be_made_of_any_array(array):
    """Drivers do not ask whether the array was made for it; `SurfaceObject` of cuda.core does."""
    wanted = runtime.cudaResourceDesc()
    wanted.resType = runtime.cudaResourceType.cudaResourceTypeArray
    wanted.res.array.array = array()
    ok(runtime.cudaDestroySurfaceObject(ok(runtime.cudaCreateSurfaceObject(wanted))))
    wanted.resType = runtime.cudaResourceType.cudaResourceTypeMipmappedArray
    assert runtime.cudaCreateSurfaceObject(wanted)[0] != Error.cudaSuccess
