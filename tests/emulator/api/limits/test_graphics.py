# SPDX-License-Identifier: Apache-2.0
"""Refusals of the graphics interoperability, with their reasons, and sizes of the mappings."""

import ctypes

import pytest
from cuda.bindings import driver as cu

BUFFER, IMAGE = 5, 6
INVALID_VALUE, ALREADY_MAPPED, NOT_MAPPED = 1, 208, 211
NOT_MAPPED_AS_ARRAY, NOT_MAPPED_AS_POINTER = 212, 213
INVALID_GRAPHICS_CONTEXT, CAPTURE_UNSUPPORTED = 219, 900
NO_ARRAY, NO_POINTER = "a buffer is mapped as a pointer", "an image is mapped as an array"


@pytest.fixture
def declare(emulated):
    from cuda.core.emulation import library

    declare = library.load().halfwarp_emulator_graphics_object
    declare(BUFFER, 64, 0, 0, 0, 0)
    declare(IMAGE, 0, 4, 3, 0x20, 1)
    yield declare
    declare(BUFFER, 0, 0, 0, 0, 0)
    declare(IMAGE, 0, 0, 0, 0, 0)


@pytest.fixture
def buffer(driver, declare):
    handle = driver.output("cuGraphicsGLRegisterBuffer", BUFFER, 0)
    yield handle
    driver.cuGraphicsUnregisterResource(handle)


@pytest.fixture
def image(driver, declare):
    handle = driver.output("cuGraphicsGLRegisterImage", IMAGE, 0x0DE1, 0)
    yield handle
    driver.cuGraphicsUnregisterResource(handle)


@pytest.fixture
def mapped(driver):
    """Maps resources, and unmaps them at the end of the test."""
    all_mapped = []

    def use(*handles, stream=0):
        list_ = (ctypes.c_uint64 * len(handles))(*handles)
        assert driver.cuGraphicsMapResources(len(handles), list_, stream) == 0
        all_mapped.append(list_)

    yield use
    for list_ in all_mapped:
        assert driver.cuGraphicsUnmapResources(len(list_), list_, 0) == 0


@pytest.fixture
def refuses(emulated):
    def check(status, code, reason):
        assert status == code
        assert reason in emulated.error_text(cu.CUresult(code))

    return check


@pytest.mark.parametrize("flags", [0, 1, 2, 4, 8, 15])
def test_flags_of_registrations(driver, declare, flags):
    for name, arguments in (("Buffer", (BUFFER,)), ("Image", (IMAGE, 0x0DE1))):
        handle = driver.output(f"cuGraphicsGLRegister{name}", *arguments, flags)
        assert driver.cuGraphicsUnregisterResource(handle) == 0


@pytest.mark.parametrize("flags", [16, 31, 2**31])
def test_unknown_flags(driver, declare, refuses, flags):
    out, reason = ctypes.c_uint64(), "cuda.h has no such registration flags"
    status = driver.cuGraphicsGLRegisterBuffer(ctypes.byref(out), BUFFER, flags)
    refuses(status, INVALID_VALUE, reason)
    status = driver.cuGraphicsGLRegisterImage(ctypes.byref(out), IMAGE, 0x0DE1, flags)
    refuses(status, INVALID_VALUE, reason)


def test_objects_of_the_other_kind_and_unknown_ones(driver, declare, refuses):
    out = ctypes.c_uint64()

    def buffer(name):
        return driver.cuGraphicsGLRegisterBuffer(ctypes.byref(out), name, 0)

    def image(name):
        return driver.cuGraphicsGLRegisterImage(ctypes.byref(out), name, 0x0DE1, 0)

    unknown = "the graphics library has no object of that name"
    refuses(buffer(IMAGE), INVALID_VALUE, "the object is not a buffer")
    refuses(image(BUFFER), INVALID_VALUE, "the object is not an image")
    refuses(buffer(8), INVALID_VALUE, unknown)
    refuses(image(8), INVALID_VALUE, unknown)
    declare(IMAGE, 0, 0, 0, 0, 0)
    refuses(image(IMAGE), INVALID_VALUE, unknown)
    declare(BUFFER, 0, 0, 0, 0, 0)
    reason = "no graphics context is current in this thread"
    refuses(buffer(BUFFER), INVALID_GRAPHICS_CONTEXT, reason)
    refuses(image(IMAGE), INVALID_GRAPHICS_CONTEXT, reason)


def test_a_mapped_buffer(driver, buffer, mapped, refuses):
    base, size, out = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint64()
    pointer, array = driver.cuGraphicsResourceGetMappedPointer, ctypes.byref(out)
    refuses(pointer(None, None, buffer), NOT_MAPPED, "the resource is not mapped")
    mapped(buffer)
    assert pointer(ctypes.byref(base), None, buffer) == 0
    assert pointer(None, ctypes.byref(size), buffer) == 0
    assert size.value == 64
    assert driver.cuMemsetD8(base.value, 7, 64) == driver.cuMemsetD8(base.value + 63, 7, 1) == 0
    status = driver.cuGraphicsSubResourceGetMappedArray(array, buffer, 0, 0)
    refuses(status, NOT_MAPPED_AS_ARRAY, NO_ARRAY)


def test_a_mapped_image(driver, image, mapped, refuses):
    out = ctypes.c_uint64()
    array = driver.cuGraphicsSubResourceGetMappedArray
    levels = driver.cuGraphicsResourceGetMappedMipmappedArray
    for status in (array(ctypes.byref(out), image, 0, 0), levels(ctypes.byref(out), image)):
        refuses(status, NOT_MAPPED, "the resource is not mapped")
    mapped(image)
    assert array(ctypes.byref(out), image, 0, 0) == 0
    shape = cu.cuArray3DGetDescriptor(cu.CUarray(out.value))[1]
    assert (shape.Width, shape.Height, shape.Depth, shape.NumChannels) == (4, 3, 0, 1)
    assert (int(shape.Format), shape.Flags) == (0x20, 0)
    one = "the image has one layer and one level"
    refuses(array(ctypes.byref(out), image, 1, 0), INVALID_VALUE, one)
    refuses(array(ctypes.byref(out), image, 0, 1), INVALID_VALUE, one)
    refuses(levels(ctypes.byref(out), image), NOT_MAPPED_AS_ARRAY, "the image has one level")
    status = driver.cuGraphicsResourceGetMappedPointer(None, None, image)
    refuses(status, NOT_MAPPED_AS_POINTER, NO_POINTER)
    assert array(None, image, 0, 0) == levels(None, image) == INVALID_VALUE


def test_all_are_mapped_or_none(driver, buffer, image, mapped, refuses):
    pair = (ctypes.c_uint64 * 2)(image, buffer)
    mapped(buffer)
    status = driver.cuGraphicsMapResources(2, pair, 0)
    refuses(status, ALREADY_MAPPED, "the resource is already mapped")
    status = driver.cuGraphicsUnmapResources(2, pair, 0)
    refuses(status, NOT_MAPPED, "the resource is not mapped")
    assert driver.cuGraphicsResourceGetMappedPointer(None, None, buffer) == 0
    flags = driver.cuGraphicsResourceSetMapFlags
    refuses(flags(buffer, 1), ALREADY_MAPPED, "the resource is mapped")
    refuses(flags(image, 3), INVALID_VALUE, "cuda.h has no such map flags")
    assert flags(image, 2) == 0
    mapped(image)


def test_an_empty_list_and_a_capture(driver, buffer, stream, refuses):
    one, empty = ctypes.byref(ctypes.c_uint64(buffer)), "the list of resources is empty"
    for name in ("cuGraphicsMapResources", "cuGraphicsUnmapResources"):
        function = getattr(driver, name)
        refuses(function(0, one, 0), INVALID_VALUE, empty)
        refuses(function(1, None, 0), INVALID_VALUE, empty)
    assert driver.cuStreamBeginCapture_v2(stream, 2) == 0
    reason = "graphics resources are not mapped or unmapped in a capture"
    refuses(driver.cuGraphicsMapResources(1, one, stream), CAPTURE_UNSUPPORTED, reason)
    graph = ctypes.c_uint64()
    driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    if graph.value:
        driver.cuGraphDestroy(graph.value)
