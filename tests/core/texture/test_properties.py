# SPDX-License-Identifier: Apache-2.0
"""Properties and texts of arrays, descriptors and objects."""

import pytest
from cuda.core.texture import (
    MipmappedArray,
    MipmappedArrayOptions,
    OpaqueArray,
    ResourceDescriptor,
    TextureObject,
)

ROWS = {"format": "float32", "num_channels": 1, "width": 16, "height": 4, "pitch_bytes": 512}


def test_a_mipmapped_array(device):
    options = MipmappedArrayOptions((8, 4), "uint16", 2, num_levels=3)
    with device.create_mipmapped_array(options) as array:
        assert (array.shape, str(array.format), array.num_channels) == ((8, 4), "uint16", 2)
        levels = [array.get_level(number) for number in range(3)]
        assert [level.shape for level in levels] == [(8, 4), (4, 2), (2, 1)]
        assert array.handle
        assert repr(array).startswith("MipmappedArray(shape=(8, 4), format=")
        assert repr(array).endswith(", num_channels=2, num_levels=3)")
        with pytest.raises(ValueError, match="level must be >= 0, got -1"):
            array.get_level(-1)
        with pytest.raises(ValueError, match=r"level \(3\) must be < num_levels \(3\)"):
            array.get_level(3)
    assert array.handle == 0 and array.shape == (8, 4)
    assert repr(MipmappedArray.__new__(MipmappedArray)) == "<MipmappedArray>"
    assert repr(OpaqueArray.__new__(OpaqueArray)) == "<OpaqueArray>"


def test_descriptors_of_memory(device, stream):
    with device.allocate(4096, stream=stream) as buffer:
        linear = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
        assert repr(linear) == (
            f"ResourceDescriptor(kind='linear', format={linear.format.name}, num_channels=1, "
            "size_bytes=4096)"
        )
        pitched = ResourceDescriptor.from_pitch2d(buffer, **ROWS)
        assert repr(pitched) == (
            f"ResourceDescriptor(kind='pitch2d', format={pitched.format.name}, num_channels=1, "
            "width=16, height=4, pitch_bytes=512)"
        )


def test_a_surface_has_a_device(device, array):
    resource = ResourceDescriptor.from_opaque_array(array)
    with device.create_surface_object(resource=resource) as surface:
        assert surface.device == device and surface.handle
    assert surface.device == device and surface.handle == 0


@pytest.mark.usefixtures("emulation")
def test_an_unaligned_address_is_named(device, stream):
    with device.allocate(8192, stream=stream) as buffer:
        shifted = type(buffer).from_handle(int(buffer.handle) + 4, 4096, owner=buffer)
        resource = ResourceDescriptor.from_pitch2d(shifted, **ROWS)
        with pytest.raises(Exception, match=r"the address of the buffer must be a multiple of \d+"):
            device.create_texture_object(resource=resource)
        shifted.close()
    assert repr(TextureObject.__new__(TextureObject))
