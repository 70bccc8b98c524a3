# SPDX-License-Identifier: Apache-2.0
"""Each option of a texture equals the driver's description of it."""

import pytest
from cuda.bindings import driver
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.texture import MipmappedArrayOptions, ResourceDescriptor, TextureObjectOptions

# flags of CUDA_TEXTURE_DESC
AS_INTEGER, NORMALIZED, SRGB, NO_OPTIMIZATION, SEAMLESS = (
    driver.CU_TRSF_READ_AS_INTEGER,
    driver.CU_TRSF_NORMALIZED_COORDINATES,
    driver.CU_TRSF_SRGB,
    driver.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
    driver.CU_TRSF_SEAMLESS_CUBEMAP,
)
USUAL = AS_INTEGER | NORMALIZED  # coordinates of mipmapped textures are normalized
CHANGES = {
    "srgb": (True, "flags", USUAL | SRGB),
    "disable_trilinear_optimization": (True, "flags", USUAL | NO_OPTIMIZATION),
    "read_mode": ("normalized_float", "flags", NORMALIZED),
    "max_anisotropy": (4, "maxAnisotropy", 4),
    "mipmap_filter_mode": ("linear", "mipmapFilterMode", driver.CUfilter_mode(1)),
    "mipmap_level_bias": (0.5, "mipmapLevelBias", 0.5),
    "min_mipmap_level_clamp": (0.25, "minMipmapLevelClamp", 0.25),
    "max_mipmap_level_clamp": (1.5, "maxMipmapLevelClamp", 1.5),
    "address_mode": (
        ("wrap", "mirror", "border"),
        "addressMode",
        [driver.CUaddress_mode(0), driver.CUaddress_mode(2), driver.CUaddress_mode(3)],
    ),
}


def described(device, resource, **options):
    texture_options = TextureObjectOptions(normalized_coords=True, **options)
    with device.create_texture_object(resource=resource, options=texture_options) as texture:
        code, desc = driver.cuTexObjectGetTextureDesc(int(texture.handle))
        assert code == 0
        names = [name for name in dir(desc) if not name.startswith("_") and name != "getPtr"]
        return {name: getattr(desc, name) for name in names}


@pytest.fixture
def colors(device):
    """A mipmapped array, which the options of levels require."""
    array_options = MipmappedArrayOptions((8, 8), "uint8", 4, num_levels=2)
    with device.create_mipmapped_array(array_options) as mipmapped:
        yield ResourceDescriptor.from_mipmapped_array(mipmapped)


@pytest.mark.parametrize("mode", ["clamp", "border"])
def test_drivers_report_no_border_color(device, colors, mode):
    """Reads outside of the array return it nevertheless, as ``test_objects.py`` checks."""
    description = described(device, colors, border_color=(1, 2, 3, 4), address_mode=mode)
    assert description["borderColor"] == [0.0] * 4


def test_seamless_filtering_requires_a_cube(device, colors):
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        described(device, colors, seamless_cubemap=True)
    shape = driver.CUDA_ARRAY3D_DESCRIPTOR()
    shape.Width, shape.Height, shape.Depth, shape.NumChannels = 4, 4, 6, 1
    shape.Format, shape.Flags = (
        driver.CUarray_format.CU_AD_FORMAT_FLOAT,
        driver.CUDA_ARRAY3D_CUBEMAP,
    )
    resource, texture_desc = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
    resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    _, resource.res.array.hArray = driver.cuArray3DCreate(shape)
    texture_desc.flags = NORMALIZED | SEAMLESS
    code, texture = driver.cuTexObjectCreate(resource, texture_desc, None)
    assert code == 0
    assert driver.cuTexObjectGetTextureDesc(texture)[1].flags == NORMALIZED | SEAMLESS
    assert driver.cuTexObjectDestroy(texture)[0] == 0
    assert driver.cuArrayDestroy(resource.res.array.hArray)[0] == 0


@pytest.mark.parametrize("name", CHANGES)
def test_an_option_changes_one_field(device, colors, name):
    value, member, expected = CHANGES[name]
    usual, changed = described(device, colors), described(device, colors, **{name: value})
    assert usual["flags"] == USUAL
    assert changed[member] == expected != usual[member]
    assert {**changed, member: usual[member]} == usual
