# SPDX-License-Identifier: Apache-2.0
"""Devices: the current device of a thread, properties, and the contexts behind them."""

import pytest
from cuda.bindings import driver, runtime

from .conftest import ok

Error = runtime.cudaError_t
Attribute = runtime.cudaDeviceAttr

PROPERTIES = {
    "major": "cudaDevAttrComputeCapabilityMajor",
    "minor": "cudaDevAttrComputeCapabilityMinor",
    "warpSize": "cudaDevAttrWarpSize",
    "multiProcessorCount": "cudaDevAttrMultiProcessorCount",
    "maxThreadsPerBlock": "cudaDevAttrMaxThreadsPerBlock",
    "regsPerBlock": "cudaDevAttrMaxRegistersPerBlock",
    "sharedMemPerBlock": "cudaDevAttrMaxSharedMemoryPerBlock",
    "sharedMemPerBlockOptin": "cudaDevAttrMaxSharedMemoryPerBlockOptin",
    "totalConstMem": "cudaDevAttrTotalConstantMemory",
    "memPitch": "cudaDevAttrMaxPitch",
    "pciBusID": "cudaDevAttrPciBusId",
    "managedMemory": "cudaDevAttrManagedMemory",
    "cooperativeLaunch": "cudaDevAttrCooperativeLaunch",
    "clusterLaunch": "cudaDevAttrClusterLaunch",
    "memoryPoolsSupported": "cudaDevAttrMemoryPoolsSupported",
    "unifiedAddressing": "cudaDevAttrUnifiedAddressing",
}
# Prefixes of the array attributes' names, with the suffixes of each.
SHAPES = {
    "maxThreadsDim": "MaxBlockDim X Y Z",
    "maxGridSize": "MaxGridDim X Y Z",
    "maxTexture2D": "MaxTexture2D Width Height",
    "maxTexture2DMipmap": "MaxTexture2DMipmapped Width Height",
    "maxTexture2DLinear": "MaxTexture2DLinear Width Height Pitch",
    "maxTexture2DGather": "MaxTexture2DGather Width Height",
    "maxTexture3D": "MaxTexture3D Width Height Depth",
    "maxTexture3DAlt": "MaxTexture3D WidthAlt HeightAlt DepthAlt",
    "maxTexture1DLayered": "MaxTexture1DLayered Width Layers",
    "maxTexture2DLayered": "MaxTexture2DLayered Width Height Layers",
    "maxTextureCubemapLayered": "MaxTextureCubemapLayered Width Layers",
    "maxSurface2D": "MaxSurface2D Width Height",
    "maxSurface3D": "MaxSurface3D Width Height Depth",
    "maxSurface1DLayered": "MaxSurface1DLayered Width Layers",
    "maxSurface2DLayered": "MaxSurface2DLayered Width Height Layers",
    "maxSurfaceCubemapLayered": "MaxSurfaceCubemapLayered Width Layers",
}


def test_versions_are_returned_without_a_device():
    assert ok(runtime.cudaRuntimeGetVersion()) == 13050
    assert ok(runtime.cudaDriverGetVersion()) == ok(driver.cuDriverGetVersion())


def test_the_runtime_counts_the_devices_of_the_driver():
    assert ok(runtime.cudaGetDeviceCount()) == ok(driver.cuDeviceGetCount()) > 0


@pytest.mark.parametrize("field", PROPERTIES)
def test_properties_equal_the_attributes(field):
    properties = ok(runtime.cudaGetDeviceProperties(0))
    attribute = ok(runtime.cudaDeviceGetAttribute(Attribute[PROPERTIES[field]], 0))
    assert getattr(properties, field) == attribute


def test_properties_have_name_memory_and_uuid_of_the_driver():
    properties = ok(runtime.cudaGetDeviceProperties(0))
    assert properties.name == ok(driver.cuDeviceGetName(256, 0)).partition(b"\0")[0]
    assert properties.totalGlobalMem == ok(driver.cuDeviceTotalMem(0))
    assert properties.uuid.bytes == ok(driver.cuDeviceGetUuid(0)).bytes


@pytest.mark.parametrize("field", SHAPES)
def test_shapes_of_properties_are_in_order(field):
    stem, *ends = SHAPES[field].split()
    attributes = [Attribute[f"cudaDevAttr{stem}{end}"] for end in ends]
    shape = getattr(ok(runtime.cudaGetDeviceProperties(0)), field)
    assert list(shape) == [ok(runtime.cudaDeviceGetAttribute(each, 0)) for each in attributes]


@pytest.mark.parametrize(
    "call",
    [
        lambda device: runtime.cudaSetDevice(device),
        lambda device: runtime.cudaInitDevice(device, 0, 0),
        lambda device: runtime.cudaGetDeviceProperties(device),
        lambda device: runtime.cudaDeviceGetAttribute(Attribute.cudaDevAttrWarpSize, device),
    ],
    ids=["set", "init", "properties", "attribute"],
)
@pytest.mark.parametrize("device", [-1, 1000])
def test_a_nonexistent_device_is_refused(call, device):
    assert call(device)[0] == Error.cudaErrorInvalidDevice
    assert ok(runtime.cudaGetDevice()) == 0


def test_a_bus_id_identifies_its_device():
    bus_id = ok(runtime.cudaDeviceGetPCIBusId(20, 0))
    assert ok(runtime.cudaDeviceGetByPCIBusId(bus_id)) == 0


def test_the_device_with_the_requested_properties_is_chosen():
    assert ok(runtime.cudaChooseDevice(ok(runtime.cudaGetDeviceProperties(0)))) == 0


def test_a_set_limit_is_returned():
    limit = runtime.cudaLimit.cudaLimitStackSize
    before = ok(runtime.cudaDeviceGetLimit(limit))
    ok(runtime.cudaDeviceSetLimit(limit, 8192))
    assert ok(runtime.cudaDeviceGetLimit(limit)) >= 8192
    ok(runtime.cudaDeviceSetLimit(limit, before))


def test_the_least_priority_is_the_larger_number():
    least, greatest = ok(runtime.cudaDeviceGetStreamPriorityRange())
    assert greatest <= least == 0


def test_flags_equal_the_primary_context(run_python):
    output = run_python("""
        ok(runtime.cudaInitDevice(0, runtime.cudaDeviceScheduleYield,
                                  runtime.cudaInitDeviceFlagsAreValid))
        ok(runtime.cudaSetDevice(0))
        print(ok(runtime.cudaGetDeviceFlags()) & runtime.cudaDeviceScheduleMask)
        print(runtime.cudaSetDeviceFlags(1 << 20)[0].name)
    """)
    assert output == [str(runtime.cudaDeviceScheduleYield), "cudaErrorInvalidValue"]


def test_free_of_null_creates_a_context(run_python):
    output = run_python("""
        ok(driver.cuInit(0))
        print(int(ok(driver.cuCtxGetCurrent())) != 0)
        ok(runtime.cudaFree(0))
        print(int(ok(driver.cuCtxGetCurrent())) != 0, ok(driver.cuDevicePrimaryCtxGetState(0))[1])
    """)
    assert output == ["False", "True 1"]


def test_device_queries_create_no_context(run_python):
    output = run_python("""
        ok(runtime.cudaGetDeviceCount()); ok(runtime.cudaGetDeviceProperties(0))
        ok(runtime.cudaGetDevice())
        print(ok(driver.cuDevicePrimaryCtxGetState(0))[1])
    """)
    assert output == ["0"]


def test_initializing_a_device_makes_its_context_current_nowhere(run_python):
    output = run_python("""
        ok(runtime.cudaInitDevice(0, 0, 0))
        print(int(ok(driver.cuCtxGetCurrent())), ok(driver.cuDevicePrimaryCtxGetState(0))[1])
    """)
    assert output == ["0 1"]


def test_a_context_of_the_program_is_respected():
    own = ok(driver.cuCtxCreate(None, 0, 0))
    try:
        address = ok(runtime.cudaMalloc(64))
        Pointer = driver.CUpointer_attribute
        owner = ok(driver.cuPointerGetAttribute(Pointer.CU_POINTER_ATTRIBUTE_CONTEXT, address))
        assert int(owner) == int(own) == int(ok(driver.cuCtxGetCurrent()))
        ok(runtime.cudaFree(address))
        assert ok(runtime.cudaGetDevice()) == 0
    finally:
        ok(driver.cuCtxDestroy(own))


def test_setting_a_device_binds_its_primary_context():
    own = ok(driver.cuCtxCreate(None, 0, 0))
    ok(runtime.cudaSetDevice(0))
    primary = ok(driver.cuDevicePrimaryCtxRetain(0))
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert int(ok(driver.cuCtxPopCurrent())) == int(primary)
    ok(driver.cuCtxDestroy(own))


def test_after_a_reset_the_next_call_creates_a_context(run_python):
    output = run_python("""
        ok(runtime.cudaSetDevice(0))
        old = ok(runtime.cudaMalloc(1 << 20))
        ok(runtime.cudaDeviceReset())
        print(ok(driver.cuDevicePrimaryCtxGetState(0))[1], ok(runtime.cudaGetDevice()))
        print(runtime.cudaMalloc(64)[0].name)
    """)
    assert output == ["0 0", "cudaSuccess"]


def test_writes_of_other_devices_are_flushed_or_not_supported():
    target = runtime.cudaFlushGPUDirectRDMAWritesTarget
    scope = runtime.cudaFlushGPUDirectRDMAWritesScope
    arguments = (
        target.cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
        scope.cudaFlushGPUDirectRDMAWritesToOwner,
    )
    (code,) = runtime.cudaDeviceFlushGPUDirectRDMAWrites(*arguments)
    (expected,) = driver.cuFlushGPUDirectRDMAWrites(
        driver.CUflushGPUDirectRDMAWritesTarget(int(arguments[0])),
        driver.CUflushGPUDirectRDMAWritesScope(int(arguments[1])),
    )
    assert int(code) == int(expected)


@pytest.mark.parametrize(("bits", "channels"), [(8, 1), (32, 4), (16, 2)])
def test_the_width_of_a_linear_texture_is_the_drivers(bits, channels):
    formats = driver.CUarray_format
    members = {8: "UNSIGNED_INT8", 16: "UNSIGNED_INT16", 32: "UNSIGNED_INT32"}
    kind = runtime.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
    sizes = [bits] * channels + [0] * (4 - channels)
    description = ok(runtime.cudaCreateChannelDesc(*sizes, kind))
    code, width = runtime.cudaDeviceGetTexture1DLinearMaxWidth(description, 0)
    format_ = getattr(formats, f"CU_AD_FORMAT_{members[bits]}")
    expected = driver.cuDeviceGetTexture1DLinearMaxWidth(format_, channels, 0)
    assert (int(code), width) == (int(expected[0]), expected[1])


def test_a_linear_texture_needs_a_format():
    kind = runtime.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
    invalid = ok(runtime.cudaCreateChannelDesc(5, 0, 0, 0, kind))
    for description in (None, invalid):
        (code, _) = runtime.cudaDeviceGetTexture1DLinearMaxWidth(description, 0)
        assert code != Error.cudaSuccess
