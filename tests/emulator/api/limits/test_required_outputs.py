# SPDX-License-Identifier: Apache-2.0
"""Queries of code and occupancy: valid apart from one null pointer, which they refuse.

A call whose other arguments are invalid too would not show which check refused it.
"""

import ctypes

import pytest

from tests.emulator.checks.seeds.raw_driver import HEADER, KERNELS

INVALID_VALUE = 1
CLUSTERS = 120  # CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH
ROOM = 512
OUT = object()  # a required pointer
# The arguments of each call. A name stands for a handle of that kind.
CALLS = {
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (OUT, "function", 64, 0),
    "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": (OUT, "function", 64, 0, 0),
    "cuOccupancyMaxPotentialBlockSize": (OUT, OUT, "function", None, 0, 0),
    "cuOccupancyMaxPotentialBlockSizeWithFlags": (OUT, OUT, "function", None, 0, 0, 0),
    "cuOccupancyAvailableDynamicSMemPerBlock": (OUT, "function", 1, 64),
    "cuOccupancyMaxPotentialClusterSize": (OUT, "function", "config"),
    "cuOccupancyMaxActiveClusters": (OUT, "function", "config"),
    "cuFuncGetAttribute": (OUT, 0, "function"),
    "cuFuncGetName": (OUT, "function"),
    "cuFuncGetModule": (OUT, "function"),
    "cuFuncGetParamInfo": ("function", 0, OUT, None),
    "cuFuncGetParamCount": ("function", OUT),
    "cuFuncIsLoaded": (OUT, "function"),
    "cuKernelGetAttribute": (OUT, 0, "kernel", 0),
    "cuKernelGetName": (OUT, "kernel"),
    "cuKernelGetFunction": (OUT, "kernel"),
    "cuKernelGetLibrary": (OUT, "kernel"),
    "cuKernelGetParamInfo": ("kernel", 0, OUT, None),
    "cuKernelGetParamCount": ("kernel", OUT),
    "cuLibraryGetKernel": (OUT, "library", b"mixed"),
    "cuLibraryGetKernelCount": (OUT, "library"),
    "cuLibraryEnumerateKernels": (OUT, 1, "library"),
    "cuLibraryGetModule": (OUT, "library"),
    "cuModuleGetFunction": (OUT, "module", b"mixed"),
    "cuModuleGetFunctionCount": (OUT, "module"),
    "cuModuleEnumerateFunctions": (OUT, 1, "module"),
    "cuModuleGetLoadingMode": (OUT,),
}


@pytest.fixture
def handles(driver):
    text = (HEADER + KERNELS["mixed"]).encode()
    library = driver.output("cuLibraryLoadData", text, None, None, 0, None, None, 0)
    module = driver.output("cuLibraryGetModule", library)
    config = (ctypes.c_uint32 * 16)(1, 1, 1, 64, 1, 1)  # grid, block, and no attributes
    yield {
        "library": library,
        "module": module,
        "kernel": driver.output("cuLibraryGetKernel", library, b"mixed"),
        "function": driver.output("cuModuleGetFunction", module, b"mixed"),
        "config": config,
    }
    assert driver.cuLibraryUnload(library) == 0


@pytest.mark.parametrize("name", CALLS)
def test_each_required_output_is_refused_alone(driver, handles, name):
    has_clusters = driver.output("cuDeviceGetAttribute", CLUSTERS, 0, kind=ctypes.c_int) != 0
    if "Cluster" in name and not has_clusters:
        pytest.skip("the device has no clusters")

    def call(null):
        room = [ctypes.create_string_buffer(ROOM) for _ in CALLS[name]]
        arguments = [
            None if i == null else room[i] if each is OUT else handles.get(each, each)
            for i, each in enumerate(CALLS[name])
        ]
        return getattr(driver, name)(*arguments)

    assert call(None) == 0
    for i, each in enumerate(CALLS[name]):
        if each is OUT or each in ("config", b"mixed"):
            assert call(i) == INVALID_VALUE, i
