# SPDX-License-Identifier: Apache-2.0
"""Texture objects: their resource and their sampling are returned as they were expected."""

import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Kind, Resource = runtime.cudaChannelFormatKind, runtime.cudaResourceType
FLOATS = (32, 0, 0, 0, Kind.cudaChannelFormatKindFloat)
PAIRS = (16, 16, 0, 0, Kind.cudaChannelFormatKindUnsigned)


@pytest.fixture
def memory():
    address = ok(runtime.cudaMalloc(4096))
    yield address
    ok(runtime.cudaFree(address))


@pytest.fixture
def array():
    channels = ok(runtime.cudaCreateChannelDesc(*FLOATS))
    created = ok(runtime.cudaMallocArray(channels, 16, 8, 0))
    yield created
    ok(runtime.cudaFreeArray(created))


def channels_of(description):
    return (description.x, description.y, description.z, description.w, description.f)


def linear(memory, channels):
    resource = runtime.cudaResourceDesc()
    resource.resType = Resource.cudaResourceTypeLinear
    fields = resource.res.linear
    fields.devPtr, fields.sizeInBytes = memory + 512, 1024
    fields.desc = ok(runtime.cudaCreateChannelDesc(*channels))
    return resource


def pitched(memory, channels):
    resource = runtime.cudaResourceDesc()
    resource.resType = Resource.cudaResourceTypePitch2D
    fields = resource.res.pitch2D
    fields.devPtr, fields.width, fields.height, fields.pitchInBytes = memory, 8, 4, 64
    fields.desc = ok(runtime.cudaCreateChannelDesc(*channels))
    return resource


def of_array(array):
    resource = runtime.cudaResourceDesc()
    resource.resType = Resource.cudaResourceTypeArray
    resource.res.array.array = array
    return resource


def texture(resource, **fields):
    description = runtime.cudaTextureDesc()
    for name, value in fields.items():
        setattr(description, name, value)
    return ok(runtime.cudaCreateTextureObject(resource, description, None))


@pytest.mark.parametrize("channels", [FLOATS, PAIRS])
def test_a_linear_resource_is_returned(memory, channels):
    created = texture(linear(memory, channels))
    answer = ok(runtime.cudaGetTextureObjectResourceDesc(created))
    assert answer.resType == Resource.cudaResourceTypeLinear
    fields = answer.res.linear
    assert (int(fields.devPtr), fields.sizeInBytes) == (memory + 512, 1024)
    assert channels_of(fields.desc) == channels
    ok(runtime.cudaDestroyTextureObject(created))


@pytest.mark.parametrize("channels", [FLOATS, PAIRS])
def test_a_pitched_resource_is_returned(memory, channels):
    created = texture(pitched(memory, channels))
    answer = ok(runtime.cudaGetTextureObjectResourceDesc(created))
    assert answer.resType == Resource.cudaResourceTypePitch2D
    fields = answer.res.pitch2D
    assert int(fields.devPtr) == memory
    assert (fields.width, fields.height, fields.pitchInBytes) == (8, 4, 64)
    assert channels_of(fields.desc) == channels
    ok(runtime.cudaDestroyTextureObject(created))


def test_a_mipmapped_resource_is_returned():
    channels = ok(runtime.cudaCreateChannelDesc(*FLOATS))
    extent = runtime.make_cudaExtent(16, 8, 0)
    levels = ok(runtime.cudaMallocMipmappedArray(channels, extent, 2, 0))
    resource = runtime.cudaResourceDesc()
    resource.resType = Resource.cudaResourceTypeMipmappedArray
    resource.res.mipmap.mipmap = levels
    created = texture(resource, maxMipmapLevelClamp=1.0)
    answer = ok(runtime.cudaGetTextureObjectResourceDesc(created))
    assert answer.resType == Resource.cudaResourceTypeMipmappedArray
    assert int(answer.res.mipmap.mipmap) == int(levels)
    ok(runtime.cudaDestroyTextureObject(created))
    ok(runtime.cudaFreeMipmappedArray(levels))


Address, Filter = runtime.cudaTextureAddressMode, runtime.cudaTextureFilterMode
Read = runtime.cudaTextureReadMode
FIELDS = {
    "addressMode": [
        Address.cudaAddressModeBorder,
        Address.cudaAddressModeClamp,
        Address.cudaAddressModeMirror,
    ],
    "filterMode": Filter.cudaFilterModeLinear,
    "mipmapFilterMode": Filter.cudaFilterModeLinear,
    "readMode": Read.cudaReadModeNormalizedFloat,
    "normalizedCoords": 1,
    "sRGB": 1,
    "disableTrilinearOptimization": 1,
    "maxAnisotropy": 3,
    "mipmapLevelBias": 0.25,
    "minMipmapLevelClamp": 0.5,
    "maxMipmapLevelClamp": 0.75,
}


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_of_the_sampling_is_returned(array, name):
    usual = {"readMode": Read.cudaReadModeElementType}
    for fields in (usual, usual | {name: FIELDS[name]}):
        created = texture(of_array(array), **fields)
        answer = ok(runtime.cudaGetTextureObjectTextureDesc(created))
        for each in FIELDS:
            expected = fields.get(each, getattr(runtime.cudaTextureDesc(), each))
            assert getattr(answer, each) == expected, each
        assert answer.seamlessCubemap == 0
        ok(runtime.cudaDestroyTextureObject(created))


def test_elements_that_no_texture_has_are_refused(memory):
    wrong = linear(memory, FLOATS)
    wrong.res.linear.desc = ok(runtime.cudaCreateChannelDesc(12, 0, 0, 0, FLOATS[4]))
    description = runtime.cudaTextureDesc()
    code, _ = runtime.cudaCreateTextureObject(wrong, description, None)
    assert code == Error.cudaErrorInvalidChannelDescriptor
    flat = pitched(memory, FLOATS)
    flat.res.pitch2D.desc = ok(runtime.cudaCreateChannelDesc(0, 0, 0, 0, FLOATS[4]))
    code, _ = runtime.cudaCreateTextureObject(flat, description, None)
    assert code == Error.cudaErrorInvalidChannelDescriptor
