# SPDX-License-Identifier: Apache-2.0
"""GraphicsResource on the emulator's OpenGL: registration, mapping, unmapping, closing."""

import gc

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import GraphicsResource
from cuda.core._core import CUDAError
from cuda.core.emulation import library

BUFFER, IMAGE = 5, 6


@pytest.fixture(autouse=True)
def graphics(emulation):
    """A buffer of 64 bytes and an image of 4 by 3 floats."""
    make = library.load().halfwarp_emulator_graphics_object
    make(BUFFER, 64, 0, 0, 0, 0)
    make(IMAGE, 0, 4, 3, 0x20, 1)
    yield
    make(BUFFER, 0, 0, 0, 0, 0)
    make(IMAGE, 0, 0, 0, 0, 0)


@pytest.fixture
def resource(device):
    resource = GraphicsResource.from_gl_buffer(BUFFER)
    yield resource
    resource.close()


def calls(emulation, name):
    return emulation.stats()["calls"].get(name, 0)


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match=r"from_gl_buffer\(\) or GraphicsResource.from_gl_image"):
        GraphicsResource()


@pytest.mark.parametrize(
    "flags", [None, "none", "read_only", ["read_only", "texture_gather"], ("write_discard",), []]
)
def test_flags_are_given_by_name(device, flags):
    GraphicsResource.from_gl_buffer(BUFFER, flags=flags).close()


@pytest.mark.parametrize(("flags", "code"), [(0, 0), (1, 0), (2, 0), (3, 1)])
def test_a_resource_has_flags_of_its_mappings(resource, flags, code):
    assert driver.cuGraphicsResourceSetMapFlags(resource.handle, flags)[0] == code


def test_a_mapped_resource_keeps_its_flags(resource, stream):
    with resource.map(stream=stream):
        code = driver.cuGraphicsResourceSetMapFlags(resource.handle, 2)[0]
    assert code == driver.CUresult.CUDA_ERROR_ALREADY_MAPPED


@pytest.mark.parametrize("flags", ["READ_ONLY", ["read_only", "x"], [1]])
def test_other_flags_are_refused_with_a_list(device, flags):
    with pytest.raises(
        ValueError, match=r"Unknown register flag .*\. Valid flags: none, read_only"
    ):
        GraphicsResource.from_gl_buffer(BUFFER, flags=flags)


@pytest.mark.parametrize(
    ("name", "error"), [("x", TypeError), (-1, ValueError), (2**32, ValueError)]
)
def test_a_name_is_a_number(device, name, error):
    with pytest.raises(error):
        GraphicsResource.from_gl_buffer(name)


def test_a_mapped_buffer_has_no_memory_resource(resource, stream):
    buffer = resource.map(stream=stream)
    assert resource.is_mapped and repr(resource).endswith(" mapped>")
    assert (buffer.size, buffer.memory_resource, buffer.is_device_accessible) == (64, None, True)
    data, back = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    buffer.copy_from(data, stream=stream)
    resource.unmap()
    second = resource.map(stream=stream)
    second.copy_to(back, stream=stream)
    stream.sync()
    assert (data == back).all()
    second.close()


def test_a_buffer_is_closed_with_its_mapping(resource, stream):
    buffer = resource.map(stream=stream)
    resource.unmap()
    assert buffer.is_closed and not resource.is_mapped
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        buffer.copy_to(bytearray(64), stream=stream)
    with pytest.raises(RuntimeError, match="GraphicsResource is not mapped"):
        resource.unmap()


@pytest.mark.parametrize("method", ["close", "collect", "close on another stream"])
def test_a_buffer_that_is_destroyed_unmaps(device, resource, stream, emulation, method):
    before = calls(emulation, "cuGraphicsUnmapResources")
    buffer = resource.map(stream=stream)
    if method == "close on another stream":
        with device.create_stream() as other:
            buffer.close(other)
    elif method == "close":
        buffer.close()
    else:
        del buffer
        gc.collect()
    assert not resource.is_mapped
    assert calls(emulation, "cuGraphicsUnmapResources") == before + 1


def test_a_closed_stream_still_orders_the_unmapping(device, resource):
    stream = device.create_stream()
    buffer = resource.map(stream=stream)
    stream.close()
    buffer.close()
    assert not resource.is_mapped


def test_it_cannot_be_mapped_twice(resource, stream):
    with resource.map(stream=stream), pytest.raises(RuntimeError, match="is already mapped"):
        resource.map(stream=stream)
    assert not resource.is_mapped


def test_close_unmaps_once(resource, stream):
    buffer = resource.map(stream=stream)
    resource.close()
    resource.close()
    assert buffer.is_closed and resource.is_closed
    assert (resource.handle, resource.resource_handle) == (0, 0)
    assert repr(resource) == "<GraphicsResource handle=0x0 closed>"
    for use in (lambda: resource.map(stream=stream), resource.unmap, resource.__enter__):
        with pytest.raises(RuntimeError, match="GraphicsResource has been closed"):
            use()


def test_an_invalid_stream_changes_nothing(resource, stream):
    with pytest.raises(TypeError):
        resource.map(stream=None)
    buffer = resource.map(stream=stream)
    with pytest.raises(TypeError):
        resource.unmap(stream=3)
    with pytest.raises(TypeError):
        resource.close(3)
    assert resource.is_mapped and not resource.is_closed and not buffer.is_closed


def test_a_block_closes_it_and_propagates_exceptions(device, stream):
    with (
        pytest.raises(KeyError),
        GraphicsResource.from_gl_buffer(BUFFER, stream=stream) as buffer,
    ):
        assert buffer.size == 64
        raise KeyError
    assert buffer.is_closed
    with GraphicsResource.from_gl_buffer(BUFFER) as resource:
        assert not resource.is_mapped
    assert resource.is_closed


def test_an_image_is_mapped_as_an_array(device, stream):
    with GraphicsResource.from_gl_image(IMAGE, 0x0DE1, flags="surface_load_store") as resource:
        with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_MAPPED_AS_POINTER"):
            resource.map(stream=stream)
        assert not resource.is_mapped
        array = resource.map_array(stream=stream)
        assert (array.shape, array.format, array.is_surface_load_store) == ((4, 3), "float32", True)
        data, back = np.arange(12, dtype=np.float32), np.zeros(12, np.float32)
        array.copy_from(data, stream=stream)
        array.copy_to(back, stream=stream)
        stream.sync()
        assert (data == back).all()
        resource.unmap()
        assert array.is_closed and not resource.is_mapped
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
            resource.map_array(level=1, stream=stream)
        assert not resource.is_mapped


def test_a_buffer_is_refused_as_array(resource, stream):
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_MAPPED_AS_ARRAY"):
        resource.map_array(stream=stream)
    assert not resource.is_mapped


@pytest.mark.parametrize(
    "function", ["cuGraphicsMapResources", "cuGraphicsResourceGetMappedPointer"]
)
def test_a_failed_mapping_leaves_it_unmapped(resource, stream, emulation, function):
    with (
        emulation.inject(function, error="CUDA_ERROR_MAP_FAILED"),
        pytest.raises(CUDAError, match=function),
    ):
        resource.map(stream=stream)
    assert not resource.is_mapped
    resource.map(stream=stream).close()


def test_a_failed_registration_leaks_nothing(device, emulation):
    before = len(emulation.leaks())
    with (
        emulation.inject("cuGraphicsGLRegisterBuffer", error="CUDA_ERROR_OPERATING_SYSTEM"),
        pytest.raises(CUDAError, match="cuGraphicsGLRegisterBuffer"),
    ):
        GraphicsResource.from_gl_buffer(BUFFER)
    assert len(emulation.leaks()) == before


def test_it_is_unregistered_when_collected(device, emulation, stream):
    before = calls(emulation, "cuGraphicsUnregisterResource")
    resource = GraphicsResource.from_gl_buffer(BUFFER)
    buffer = resource.map(stream=stream)
    del resource
    gc.collect()
    buffer.close()
    gc.collect()
    assert calls(emulation, "cuGraphicsUnregisterResource") == before + 1
