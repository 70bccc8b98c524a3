# SPDX-License-Identifier: Apache-2.0
"""Entry points that programs built with older CUDA headers look up in the emulator."""

import ctypes

import pytest
from cuda.bindings import _low, driver

# Releases of programs, with functions whose newest variant is later but has the same parameter
# types.
ASKED = [
    ("cuEventElapsedTime", 12000),
    ("cuEventElapsedTime", 2000),
    ("cuDeviceGetUuid", 11000),
    ("cuDeviceGetUuid", 9020),
    ("cuDevicePrimaryCtxRelease", 10000),
    ("cuStreamDestroy", 2000),
    ("cuIpcOpenMemHandle", 5000),
]


@pytest.fixture(autouse=True)
def emulated():
    if not _low.is_emulated():
        pytest.skip("a question to the emulator")
    driver.cuInit(0)


@pytest.mark.parametrize(("name", "version"), ASKED)
def test_a_program_of_an_older_release_finds_the_variant_of_its_release(name, version):
    code, address, status = driver.cuGetProcAddress(name.encode(), version, 0)
    assert code == driver.CUresult.CUDA_SUCCESS
    success = driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS
    assert (address != 0, status) == (True, success)


def test_an_older_variant_returns_the_same_as_the_newest():
    _, address, _ = driver.cuGetProcAddress(b"cuDeviceGetUuid", 9020, 0)
    uuid = driver.CUuuid()
    code = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(address)(uuid.getPtr(), 0)
    assert code == 0
    assert uuid.bytes == driver.cuDeviceGetUuid(0)[1].bytes


@pytest.mark.parametrize("name", ["cuEventElapsedTime", "cuDeviceGetUuid", "cuCtxDestroy"])
def test_first_variants_are_exported_under_their_names(name):
    assert _low.emulator_function(name) != 0


def test_a_release_before_the_first_variant_is_reported():
    code, address, status = driver.cuGetProcAddress(b"cuDeviceGetUuid", 9000, 0)
    too_old = driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
    assert (int(code), int(address), status) == (0, 0, too_old)


# Functions of programs built with CUDA 8 to 12, whose newest variants have other parameters.
OTHER_PARAMETERS = {
    "cuGraphAddDependencies": 10000,
    "cuGraphAddKernelNode": 10000,
    "cuGraphExecKernelNodeSetParams": 10010,
    "cuGraphExecUpdate": 10020,
    "cuGraphGetEdges": 10000,
    "cuGraphInstantiate": 10000,
    "cuGraphKernelNodeGetParams": 10000,
    "cuGraphKernelNodeSetParams": 10000,
    "cuGraphNodeGetDependencies": 10000,
    "cuGraphNodeGetDependentNodes": 10000,
    "cuGraphRemoveDependencies": 10000,
    "cuMemAdvise": 8000,
    "cuMemPrefetchAsync": 8000,
    "cuMemcpy3DBatchAsync": 12080,
    "cuMemcpyBatchAsync": 12080,
    "cuStreamBeginCapture": 10000,
    "cuStreamGetCaptureInfo": 10010,
    "cuStreamUpdateCaptureDependencies": 11030,
}
PER_THREAD = ["cuMemPrefetchAsync_ptsz", "cuStreamBeginCapture_ptsz", "cuMemcpyBatchAsync_ptsz"]


def older(name, *kinds):
    """The exported function of this name, which returns a code."""
    address = _low.emulator_function(name)
    assert address, f"{name} is not exported"
    return ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(address)


@pytest.mark.parametrize(("name", "version"), OTHER_PARAMETERS.items())
def test_variants_with_other_parameters_are_exported_and_found_by_their_release(name, version):
    exported = _low.emulator_function(name)
    assert exported != 0
    code, address, _ = driver.cuGetProcAddress(name.encode(), version, 0)
    assert (code, int(address)) == (driver.CUresult.CUDA_SUCCESS, exported)
    assert int(driver.cuGetProcAddress(name.encode(), version - 10, 0)[1]) == 0
    if name != "cuGraphInstantiate":  # the newest has a name of its own
        assert int(driver.cuGetProcAddress(name.encode(), 13000, 0)[1]) != exported


@pytest.mark.parametrize("name", [*PER_THREAD, "cuGraphInstantiate_v2"])
def test_their_forms_for_the_stream_of_a_thread_are_exported(name):
    assert _low.emulator_function(name) != 0


def test_functions_with_short_addresses_are_found_and_refused(capfd):
    """A sample of CUDA looks up names without their suffix, and calls others."""
    names = "cuMemAlloc", "cuMemcpyDtoDAsync", "cuModuleGetGlobal"
    assert {older(name)() for name in names} == {driver.CUresult.CUDA_ERROR_NOT_SUPPORTED}
    assert capfd.readouterr().err.count("whose addresses have 32 bits") <= 1


@pytest.fixture
def context():
    _, device = driver.cuDeviceGet(0)
    _, value = driver.cuDevicePrimaryCtxRetain(device)
    driver.cuCtxSetCurrent(value)
    yield value
    driver.cuCtxSetCurrent(driver.CUcontext(0))
    driver.cuDevicePrimaryCtxRelease(device)


@pytest.mark.parametrize("device", [0, -1])
def test_a_prefetch_takes_the_number_of_a_device(context, device):
    prefetch = older(
        "cuMemPrefetchAsync", ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p
    )
    _, memory = driver.cuMemAllocManaged(4096, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
    last = driver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
    assert prefetch(int(memory), 4096, device, None) == 0
    assert driver.cuMemRangeGetAttribute(4, last, memory, 4096)[1] == device
    driver.cuMemFree(memory)


def test_parameters_of_a_kernel_node_fill_the_older_structure_alone(context):
    ptx = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty()\n{ ret; }\n\0"
    _, module = driver.cuModuleLoadData(ptx)
    _, function = driver.cuModuleGetFunction(module, b"empty")
    _, graph = driver.cuGraphCreate(0)
    pointers = [ctypes.c_void_p] * 4
    add = older("cuGraphAddKernelNode", *pointers[:3], ctypes.c_size_t, ctypes.c_void_p)
    read = older("cuGraphKernelNodeGetParams", *pointers[:2])
    params = (ctypes.c_uint32 * 20)(*[0xABCD] * 20)  # 64 bytes, then 16 of the newer variant
    ctypes.c_uint64.from_buffer(params).value = int(function)
    params[2:10] = [2, 1, 1, 32, 1, 1, 0, 0]
    params[10:14] = [0] * 4
    node = ctypes.c_void_p()
    assert add(ctypes.byref(node), int(graph), None, 0, params) == 0
    params[2:14] = [7] * 12
    assert read(node, params) == 0
    assert list(params[2:8]) == [2, 1, 1, 32, 1, 1]
    assert list(params[14:]) == [0xABCD] * 6
    run, text = ctypes.c_void_p(), ctypes.create_string_buffer(b"?", 8)
    instantiate = older("cuGraphInstantiate", *pointers, ctypes.c_size_t)
    assert instantiate(ctypes.byref(run), int(graph), None, text, 8) == 0
    assert text.value == b""
    driver.cuGraphExecDestroy(driver.CUgraphExec(run.value))
    driver.cuGraphDestroy(graph)
    driver.cuModuleUnload(module)


def test_a_failed_instantiation_writes_its_reason_to_the_buffer(context):
    instantiate = older("cuGraphInstantiate", *[ctypes.c_void_p] * 4, ctypes.c_size_t)
    run, text = ctypes.c_void_p(), ctypes.create_string_buffer(b"?", 64)
    assert instantiate(ctypes.byref(run), None, None, text, 64) != 0
    assert text.value == driver.cuGetErrorString(driver.CUresult.CUDA_ERROR_INVALID_VALUE)[1]
