# SPDX-License-Identifier: Apache-2.0
"""Arrays and mipmapped arrays: creation, copies, closing."""

import gc
import weakref

import numpy as np
import pytest
from cuda.core import CUDAWarning, Device, LegacyPinnedMemoryResource
from cuda.core._core import CUDAError, OutOfMemoryError
from cuda.core.texture import (
    MipmappedArray,
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
)
from cuda.core.texture.options import FORMATS

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (OpaqueArray, r"OpaqueArray cannot be instantiated directly.*Device.create_opaque_array"),
        (MipmappedArray, "cannot be instantiated directly.*Device.create_mipmapped_array"),
        (TextureObject, "cannot be instantiated directly.*Device.create_texture_object"),
        (SurfaceObject, "cannot be instantiated directly.*Device.create_surface_object"),
        (ResourceDescriptor, r"ResourceDescriptor\.from_"),
    ],
)
def test_the_class_cannot_be_called(cls, message):
    with pytest.raises(RuntimeError, match=message):
        cls()


def test_an_uninitialized_array_is_closed():
    for cls in (OpaqueArray, MipmappedArray, TextureObject, SurfaceObject):
        assert cls.__new__(cls).is_closed


@pytest.mark.parametrize("shape", [(7,), (4, 3), (5, 3, 2)])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("format", FORMATS)
def test_rows_of_numpy_are_rows_of_the_array(device, stream, shape, channels, format):
    data = np.arange(np.prod(shape) * channels).astype(format).reshape(*shape[::-1], channels)
    back = np.zeros_like(data)
    options = OpaqueArrayOptions(shape, format, channels)
    with device.create_opaque_array(options) as array:
        assert array.element_bytes == data.itemsize * channels
        assert array.size_bytes == data.nbytes
        assert (array.shape, array.format, array.num_channels) == (shape, format, channels)
        array.copy_from(data, stream=stream)
        assert array.copy_to(back, stream=stream) is back
        stream.sync()
    assert (back == data).all()


def test_a_buffer_of_any_kind_is_copied(device, stream, array):
    with (
        device.allocate(64, stream=stream) as on_device,
        LegacyPinnedMemoryResource().allocate(48) as pinned,
    ):
        array.copy_from(DATA, stream=stream)
        assert array.copy_to(on_device, stream=stream) is on_device
        array.copy_from(np.zeros(12, np.float32), stream=stream)
        array.copy_from(on_device, stream=stream)
        array.copy_to(pinned, stream=stream)
        stream.sync()
        assert (np.from_dlpack(pinned).view(np.float32) == DATA.ravel()).all()


def test_a_larger_array_of_the_host_is_refused(array, stream):
    array.copy_from(DATA, stream=stream)
    with pytest.raises(ValueError, match=r"80 bytes, larger than the array extent \(48 bytes\)"):
        array.copy_from(np.zeros(20, np.float32), stream=stream)
    result = np.zeros_like(DATA)
    array.copy_to(result, stream=stream)
    stream.sync()
    assert (result == DATA).all()


def test_only_the_bytes_of_the_array_are_copied(array, stream):
    larger = np.full(20, 7, np.float32)
    array.copy_from(DATA, stream=stream)
    array.copy_to(larger, stream=stream)
    stream.sync()
    assert (larger[:12] == DATA.ravel()).all() and (larger[12:] == 7).all()


@pytest.mark.parametrize(
    ("operand", "error", "message"),
    [
        (DATA[:2], ValueError, r"Host buffer has 32 bytes, smaller than the array extent \(48"),
        (np.zeros((3, 8), np.float32)[:, ::2], ValueError, "contiguous"),
        (np.asfortranarray(DATA), ValueError, "contiguous"),
        (object(), TypeError, "bytes-like object is required"),
        (None, TypeError, "bytes-like object is required"),
        (5, TypeError, "bytes-like object is required"),
    ],
)
def test_an_invalid_operand_is_refused(array, stream, operand, error, message):
    with pytest.raises(error, match=message):
        array.copy_from(operand, stream=stream)


def test_read_only_memory_is_not_written(array, stream):
    with pytest.raises(BufferError):
        array.copy_to(bytes(48), stream=stream)


def test_a_buffer_that_is_too_small_is_refused(device, array, stream):
    with device.allocate(40, stream=stream) as small:
        for copy in (array.copy_from, array.copy_to):
            with pytest.raises(ValueError, match=r"Buffer size \(40 bytes\) is smaller than the"):
                copy(small, stream=stream)


def test_a_closed_buffer_and_a_closed_array_are_refused(device, array, stream):
    with device.allocate(64, stream=stream) as buffer:
        pass
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        array.copy_from(buffer, stream=stream)
    array.close()
    with pytest.raises(RuntimeError, match="OpaqueArray has been closed"):
        array.copy_from(DATA, stream=stream)


def test_a_stream_is_required(array):
    with pytest.raises(TypeError, match="stream is required"):
        array.copy_from(DATA, stream=None)
    with pytest.raises(TypeError):
        array.copy_from(DATA)


def test_the_conversion_of_an_argument_may_close_the_array(array, stream):
    class Closing:
        def __buffer__(self, flags):
            array.close()
            return memoryview(DATA).__buffer__(flags)

    with pytest.raises((RuntimeError, TypeError)):  # Python before 3.12 does not call it
        array.copy_from(Closing(), stream=stream)


def test_a_closed_array_still_describes_itself(array):
    array.close()
    array.close()
    assert (array.handle, array.is_closed, array.shape) == (0, True, (4, 3))
    assert repr(array) == "OpaqueArray(shape=(4, 3), format=FLOAT32, num_channels=1)"


def test_collection_closes_it(device, emulation):
    gc.collect()
    before = emulation.stats()["live"]
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1))
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None
    assert emulation.stats()["live"] == before


def test_options_may_be_a_dict(device):
    with device.create_opaque_array({"shape": (4,), "format": "uint8", "num_channels": 1}) as array:
        assert array.device is device
        assert not array.is_surface_load_store
    with pytest.raises(TypeError):
        device.create_opaque_array({"shapes": (4,)})
    with pytest.raises(TypeError, match="OpaqueArray options.*OpaqueArrayOptions.*got 3"):
        device.create_opaque_array(3)


def test_a_device_that_is_not_current_is_refused(in_new_thread):
    def create():
        with pytest.raises((CUDAError, RuntimeError), match="set_current"):
            Device(0).create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1))

    in_new_thread(create)


def test_unsupported_extents_are_a_cuda_error(device):
    with pytest.raises(CUDAError, match="cuArray3DCreate"):
        device.create_opaque_array(OpaqueArrayOptions((1 << 20,), "uint8", 1))
    with pytest.raises(ValueError, match="larger than any memory"):
        device.create_opaque_array(OpaqueArrayOptions((1 << 70,), "uint8", 1))
    with pytest.raises(OutOfMemoryError):
        device.create_opaque_array(OpaqueArrayOptions((16384, 16384, 16384), "float32", 4))


class TestMipmappedArray:
    @pytest.fixture
    def levels(self, device):
        options = MipmappedArrayOptions((8, 4), "float32", 1, 4, True)
        with device.create_mipmapped_array(options) as mipmapped:
            yield mipmapped

    def test_it_describes_itself(self, levels, device):
        assert repr(levels) == (
            "MipmappedArray(shape=(8, 4), format=FLOAT32, num_channels=1, num_levels=4)"
        )
        assert levels.device is device and levels.is_surface_load_store

    def test_levels_are_halves(self, levels):
        shapes = [levels.get_level(number).shape for number in range(4)]
        assert shapes == [(8, 4), (4, 2), (2, 1), (1, 1)]

    @pytest.mark.parametrize(
        ("level", "message"),
        [(-1, "level must be >= 0, got -1"), (4, r"level \(4\) must be < num_levels \(4\)")],
    )
    def test_invalid_levels_are_refused(self, levels, level, message):
        with pytest.raises(ValueError, match=message):
            levels.get_level(level)

    def test_a_level_is_copied_and_the_others_are_unchanged(self, levels, stream):
        level = levels.get_level(1)
        levels.close()
        assert levels.is_closed and not level.is_closed
        data, back = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
        level.copy_from(data, stream=stream)
        level.copy_to(back, stream=stream)
        stream.sync()
        assert (data == back).all()
        with pytest.raises(RuntimeError, match="MipmappedArray has been closed"):
            levels.get_level(0)


@pytest.mark.parametrize(
    ("function", "act"),
    [
        ("cuArray3DCreate", lambda d: d.create_opaque_array(OpaqueArrayOptions((4,), "int8", 1))),
        (
            "cuMipmappedArrayCreate",
            lambda d: d.create_mipmapped_array(MipmappedArrayOptions((4,), "int8", 1, 1)),
        ),
    ],
)
def test_a_failed_creation_leaks_nothing(device, emulation, function, act):
    before = len(emulation.leaks())
    with (
        emulation.inject(function, error="CUDA_ERROR_OUT_OF_MEMORY"),
        pytest.raises(OutOfMemoryError, match=function),
    ):
        act(device)
    assert len(emulation.leaks()) == before


def test_a_failed_copy_leaves_the_array_usable(array, stream, emulation):
    with (
        emulation.inject("cuMemcpy3DAsync", error="CUDA_ERROR_INVALID_VALUE"),
        pytest.raises(CUDAError, match="cuMemcpy3DAsync"),
    ):
        array.copy_from(DATA, stream=stream)
    array.copy_from(DATA, stream=stream)
    stream.sync()


@pytest.mark.parametrize("function", ["cuArrayDestroy", "cuMipmappedArrayDestroy"])
def test_a_failed_destruction_is_a_warning(device, emulation, function):
    if function == "cuArrayDestroy":
        array = device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1))
    else:
        array = device.create_mipmapped_array(MipmappedArrayOptions((4,), "uint8", 1, 1))
    handle = array.handle
    with emulation.inject(function, error="CUDA_ERROR_INVALID_VALUE"):
        with pytest.warns(CUDAWarning, match=function):
            array.close()
    from cuda.bindings import driver

    assert getattr(driver, function)(handle)[0] == 0  # left by the failed destruction
