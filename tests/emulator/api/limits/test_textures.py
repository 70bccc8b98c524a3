# SPDX-License-Identifier: Apache-2.0
"""The limits of arrays, mipmapped arrays, textures and surfaces."""

import ctypes
import struct
from types import SimpleNamespace

import pytest
from cuda.bindings.driver import CUdevice_attribute

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE, INVALID_HANDLE = 1, 400
UINT8, FLOAT32 = 0x01, 0x20
LAYERED, CUBE = 1, 4
ARRAY, MIPMAPPED, LINEAR, PITCHED = 0, 1, 2, 3


def attribute(driver, name):
    number = int(CUdevice_attribute[f"CU_DEVICE_ATTRIBUTE_{name}"])
    return driver.output("cuDeviceGetAttribute", number, 0, kind=ctypes.c_int)


def shape(width, height=0, depth=0, flags=0, channels=1, form=UINT8):
    return struct.pack("QQQIIII", width, height, depth, form, channels, flags, 0)


def create(driver, description):
    """Create an array and destroy it; return the code of the creation."""
    out = ctypes.c_uint64()
    code = driver.cuArray3DCreate(ctypes.byref(out), description)
    if code == 0:
        assert driver.cuArrayDestroy(out) == 0
    return code


# The attribute with the limit, and the shape of an array that has the extent.
EXTENTS = [
    ("MAXIMUM_TEXTURE1D_WIDTH", lambda n: shape(n)),
    ("MAXIMUM_TEXTURE2D_WIDTH", lambda n: shape(n, 1)),
    ("MAXIMUM_TEXTURE2D_HEIGHT", lambda n: shape(1, n)),
    ("MAXIMUM_TEXTURE3D_WIDTH", lambda n: shape(n, 1, 1)),
    ("MAXIMUM_TEXTURE3D_HEIGHT", lambda n: shape(1, n, 1)),
    ("MAXIMUM_TEXTURE3D_DEPTH", lambda n: shape(1, 1, n)),
    ("MAXIMUM_TEXTURE1D_LAYERED_WIDTH", lambda n: shape(n, 0, 1, LAYERED)),
    ("MAXIMUM_TEXTURE1D_LAYERED_LAYERS", lambda n: shape(1, 0, n, LAYERED)),
    ("MAXIMUM_TEXTURE2D_LAYERED_WIDTH", lambda n: shape(n, 1, 1, LAYERED)),
    ("MAXIMUM_TEXTURE2D_LAYERED_HEIGHT", lambda n: shape(1, n, 1, LAYERED)),
    ("MAXIMUM_TEXTURE2D_LAYERED_LAYERS", lambda n: shape(1, 1, n, LAYERED)),
]


@pytest.mark.parametrize(("name", "shape_of"), EXTENTS, ids=[name for name, _ in EXTENTS])
def test_an_extent_is_at_most_that_of_the_device(driver, name, shape_of):
    limit = attribute(driver, name)
    assert create(driver, shape_of(limit)) == 0
    assert create(driver, shape_of(limit + 1)) == INVALID_VALUE


ACCEPTED = {
    "2 channels": shape(4, channels=2),
    "4 channels": shape(4, channels=4),
    "a cube": shape(4, 4, 6, CUBE),
    "cubes": shape(4, 4, 12, CUBE | LAYERED),
    "all flags": shape(4, 4, 0, 2 | 8 | 0x10 | 0x20, form=FLOAT32),
}
REFUSED = {
    "no width": shape(0),
    "no width but a height": shape(0, 4),
    "a depth without height": shape(4, 0, 2),
    "no layers": shape(4, 4, 0, LAYERED),
    "0 channels": shape(4, channels=0),
    "3 channels": shape(4, channels=3),
    "5 channels": shape(4, channels=5),
    "an unknown format": shape(4, form=0x7F),
    "an unknown flag": shape(4, flags=0x40),
    "a cube of 5 faces": shape(4, 4, 5, CUBE),
    "a cube of 7 faces": shape(4, 4, 7, CUBE),
    "a cube that is no square": shape(4, 5, 6, CUBE),
    "cubes of 7 faces": shape(4, 4, 7, CUBE | LAYERED),
    "no cubes": shape(4, 4, 0, CUBE | LAYERED),
}


@pytest.mark.parametrize("name", [*ACCEPTED, *REFUSED])
def test_the_shape_of_an_array(driver, name):
    code = create(driver, (ACCEPTED | REFUSED)[name])
    assert code == (0 if name in ACCEPTED else INVALID_VALUE)


def test_a_descriptor_returns_the_shape(driver):
    description = shape(5, 3, form=FLOAT32, channels=2)
    array = driver.output("cuArray3DCreate", description)
    out = ctypes.create_string_buffer(40)
    assert driver.cuArray3DGetDescriptor(out, array) == 0
    assert out.raw == description
    assert driver.cuArrayGetDescriptor(out, array) == 0
    assert struct.unpack_from("QQII", out) == (5, 3, FLOAT32, 2)
    assert driver.cuArrayGetPlane(out, array, 0) == INVALID_VALUE
    assert driver.cuArrayDestroy(array) == 0
    flat = struct.pack("QQII", 5, 3, FLOAT32, 2)
    array = driver.output("cuArrayCreate", flat)
    assert driver.cuArray3DGetDescriptor(out, array) == 0
    assert out.raw == description
    assert driver.cuArrayDestroy(array) == 0


@pytest.mark.parametrize(
    ("extents", "levels"), [((8, 4), 4), ((7, 4), 3), ((1,), 1), ((2, 2, 16), 5), ((2, 2), 2)]
)
def test_each_level_halves_the_extents(driver, extents, levels):
    out, level = ctypes.c_uint64(), ctypes.c_uint64()
    description = shape(*extents)
    assert driver.cuMipmappedArrayCreate(ctypes.byref(out), description, 0) == INVALID_VALUE
    assert driver.cuMipmappedArrayCreate(ctypes.byref(out), description, levels + 1) == 0
    text = ctypes.create_string_buffer(40)
    for index in range(levels):
        assert driver.cuMipmappedArrayGetLevel(ctypes.byref(level), out, index) == 0
        assert driver.cuArray3DGetDescriptor(text, level) == 0
        expected = tuple(max(each >> index, 1) for each in extents)
        assert struct.unpack_from("QQQ", text)[: len(extents)] == expected
        assert driver.cuArrayDestroy(level) == INVALID_VALUE
    beyond = driver.cuMipmappedArrayGetLevel(ctypes.byref(level), out, levels)
    assert beyond == INVALID_VALUE
    assert driver.cuMipmappedArrayDestroy(out) == 0


@pytest.fixture
def objects(driver):
    o = SimpleNamespace(memory=driver.output("cuMemAlloc", 1 << 20))
    o.array = driver.output("cuArray3DCreate", shape(16, 16, form=FLOAT32))
    o.cube = driver.output("cuArray3DCreate", shape(4, 4, 6, CUBE, form=FLOAT32))
    assert o.memory % 512 == 0
    yield o
    driver.cuMemFree(o.memory)
    driver.cuArrayDestroy(o.array)
    driver.cuArrayDestroy(o.cube)


def resource(kind, *fields, flags=0):
    """A CUDA_RESOURCE_DESC with 8-byte fields; two 4-byte ones are one field."""
    return struct.pack(f"Q{len(fields)}Q", kind, *fields).ljust(136, b"\0") + struct.pack(
        "II", flags, 0
    )


def linear(o, *, offset=0, size=1024, form=FLOAT32, channels=1, flags=0):
    return resource(LINEAR, o.memory + offset, channels << 32 | form, size, flags=flags)


def pitched(o, *, offset=0, width=8, height=4, pitch=32, form=FLOAT32, channels=1):
    return resource(PITCHED, o.memory + offset, channels << 32 | form, width, height, pitch)


def sampling(modes=(0, 0, 0), filter_mode=0, flags=0, mipmap_filter=0):
    return struct.pack("7I", *modes, filter_mode, flags, 0, mipmap_filter).ljust(104, b"\0")


RESOURCES = [
    (lambda o: linear(o, offset=512), lambda o: linear(o, offset=256)),
    (lambda o: linear(o, size=4), lambda o: linear(o, size=3)),
    (lambda o: linear(o, channels=4), lambda o: linear(o, channels=3)),
    (lambda o: linear(o, channels=2), lambda o: linear(o, channels=0)),
    (lambda o: linear(o, form=UINT8), lambda o: linear(o, form=0x7F)),
    (lambda o: linear(o), lambda o: linear(o, flags=1)),
    (lambda o: pitched(o, offset=512), lambda o: pitched(o, offset=32)),
    (lambda o: pitched(o, pitch=64), lambda o: pitched(o, pitch=48)),
    (lambda o: pitched(o, width=8), lambda o: pitched(o, width=9)),
    (lambda o: pitched(o, width=1), lambda o: pitched(o, width=0)),
    (lambda o: pitched(o, height=1), lambda o: pitched(o, height=0)),
    (lambda o: pitched(o, channels=2, width=4), lambda o: pitched(o, channels=2, width=5)),
    (lambda o: resource(ARRAY, o.array), lambda o: resource(4, o.array)),
]
SAMPLINGS = [
    ({"modes": (3, 3, 3)}, {"modes": (0, 0, 4)}),
    ({"modes": (1, 2, 0)}, {"modes": (4, 0, 0)}),
    ({"filter_mode": 1}, {"filter_mode": 2}),
    ({"mipmap_filter": 1}, {"mipmap_filter": 2}),
    ({"flags": 1 | 2 | 0x10 | 0x20}, {"flags": 4}),
    ({"flags": 0}, {"flags": 8}),
    ({"flags": 0}, {"flags": 0x40}),  # seamless filtering needs a cube
]


def create_texture(driver, description, texture):
    out = ctypes.c_uint64()
    code = driver.cuTexObjectCreate(ctypes.byref(out), description, texture, None)
    if code == 0:
        description_out = ctypes.create_string_buffer(144)
        assert driver.cuTexObjectGetResourceDesc(description_out, out) == 0
        assert description_out.raw[:24] == description[:24]
        assert driver.cuTexObjectGetResourceViewDesc(description_out, out) == INVALID_VALUE
        assert driver.cuTexObjectGetTextureDesc(description_out, out) == 0
        assert description_out.raw[:28] == texture[:28]
        assert driver.cuTexObjectDestroy(out) == 0
    return code


@pytest.mark.parametrize(("accepted", "refused"), RESOURCES)
def test_the_resource_of_a_texture(driver, objects, accepted, refused):
    assert create_texture(driver, accepted(objects), sampling()) == 0
    assert create_texture(driver, refused(objects), sampling()) == INVALID_VALUE


@pytest.mark.parametrize(("accepted", "refused"), SAMPLINGS)
def test_the_sampling_of_a_texture(driver, objects, accepted, refused):
    source = resource(ARRAY, objects.array)
    assert create_texture(driver, source, sampling(**accepted)) == 0
    assert create_texture(driver, source, sampling(**refused)) == INVALID_VALUE


def test_seamless_filtering_needs_a_cube(driver, objects):
    assert create_texture(driver, resource(ARRAY, objects.cube), sampling(flags=0x40)) == 0


def test_linear_textures_have_the_limits_of_the_device(driver, objects):
    def accepts(*extents, pitch):
        width, height = extents
        return create_texture(
            driver, pitched(objects, width=width, height=height, pitch=pitch, form=UINT8),
            sampling(),
        ) == 0  # fmt: skip

    widest = attribute(driver, "MAXIMUM_TEXTURE2D_LINEAR_WIDTH")
    highest = attribute(driver, "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT")
    longest = attribute(driver, "MAXIMUM_TEXTURE2D_LINEAR_PITCH")
    room = -(-widest // 32) * 32
    assert accepts(widest, 1, pitch=room)
    assert not accepts(widest + 1, 1, pitch=room + 32)
    assert accepts(1, highest, pitch=32)
    assert not accepts(1, highest + 1, pitch=32)
    assert accepts(1, 1, pitch=longest // 32 * 32)
    assert not accepts(1, 1, pitch=longest // 32 * 32 + 32)
    elements = attribute(driver, "MAXIMUM_TEXTURE1D_LINEAR_WIDTH")
    for count, code in ((elements, 0), (elements + 1, INVALID_VALUE)):
        description = linear(objects, size=count, form=UINT8)
        assert create_texture(driver, description, sampling()) == code


def test_a_surface_needs_an_array(driver, objects):
    surface = driver.output("cuSurfObjectCreate", resource(ARRAY, objects.array))
    description_out = ctypes.create_string_buffer(144)
    assert driver.cuSurfObjectGetResourceDesc(description_out, surface) == 0
    assert description_out.raw == resource(ARRAY, objects.array)
    out = ctypes.c_uint64()
    for other in (linear(objects), pitched(objects)):
        assert driver.cuSurfObjectCreate(ctypes.byref(out), other) == INVALID_VALUE
    assert driver.cuSurfObjectDestroy(surface) == 0


@pytest.mark.cuda_expect_fault("destroyed-handle")
def test_the_levels_end_with_the_mipmapped_array(driver):
    array, level = driver.output("cuMipmappedArrayCreate", shape(8), 2), ctypes.c_uint64()
    assert driver.cuMipmappedArrayGetLevel(ctypes.byref(level), array, 1) == 0
    assert driver.cuMipmappedArrayDestroy(array) == 0
    description = ctypes.create_string_buffer(40)
    assert driver.cuArray3DGetDescriptor(description, level) == INVALID_HANDLE
