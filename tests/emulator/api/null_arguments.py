# SPDX-License-Identifier: Apache-2.0
"""Child process: calls each function of the driver with one null pointer; JSON of the codes."""

import ctypes
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from cuda.bindings import _low

from generator import libraries
from tests.emulator.conftest import Driver

PTX = b""".version 8.0
.target sm_75
.address_size 64
.visible .global .u32 word;
.visible .entry empty() { ret; }
"""
CALLBACKS = ("CUhostFn", "CUstreamCallback", "CUlogsCallback", "CUoccupancyB2DSize")
# They change the state that the other calls need.
LEFT_OUT = ("cuCtxPopCurrent", "cuStreamBeginCaptureToGraph", "cuStreamEndCapture")
ROOM = 8192  # bytes of zeros behind a pointer


def handles(driver):
    """Return a valid argument for each type of handle."""
    new = driver.output
    context = new("cuDevicePrimaryCtxRetain", 0)
    assert driver.cuCtxSetCurrent(context) == 0
    library = new("cuLibraryLoadData", PTX, None, None, 0, None, None, 0)
    module, graph = new("cuModuleLoadData", PTX), new("cuGraphCreate", 0)
    shape = (ctypes.c_uint64 * 6)(16, 0, 0, 0x20 | 1 << 32, 0)  # 16 floats
    resource = (ctypes.c_uint64 * 20)(0, new("cuArray3DCreate", shape))
    return {
        "CUcontext": context,
        "CUstream": new("cuStreamCreate", 1),
        "CUevent": new("cuEventCreate", 0),
        "CUdeviceptr": new("cuMemAlloc", 4096),
        "CUmodule": module,
        "CUfunction": new("cuModuleGetFunction", module, b"empty"),
        "CUlibrary": library,
        "CUkernel": new("cuLibraryGetKernel", library, b"empty"),
        "CUgraph": graph,
        "CUgraphNode": new("cuGraphAddEmptyNode", graph, None, 0),
        "CUgraphExec": new("cuGraphInstantiateWithFlags", graph, 0),
        "CUmemoryPool": new("cuDeviceGetDefaultMemPool", 0),
        "CUlinkState": driver.output_last("cuLinkCreate", 0, None, None),
        "CUarray": resource[1],
        "CUmipmappedArray": new("cuMipmappedArrayCreate", shape, 1),
        "CUsurfObject": new("cuSurfObjectCreate", resource),
        "CUtexObject": new("cuTexObjectCreate", resource, (ctypes.c_uint64 * 16)(), None),
    }


class Calls(Driver):
    def output_last(self, name, *arguments):
        out = ctypes.c_uint64()
        assert getattr(self, name)(*arguments, ctypes.byref(out)) == 0
        return out.value


def is_pointer(parameter):
    return parameter.c_type.rstrip().endswith("*")


def argument(parameter, null, values):
    if parameter.c_type in CALLBACKS or parameter is null:
        return None
    if is_pointer(parameter):
        return ctypes.create_string_buffer(ROOM)
    return values.get(parameter.c_type, 0)


def main():
    driver = Calls()
    assert driver.cuInit(0) == 0
    values, codes = handles(driver), {}
    for function in libraries.load("driver").facts.functions:
        if function.name in LEFT_OUT or not _low.inspect_function_pointer("driver", function.name):
            continue
        for null in filter(is_pointer, function.params):
            arguments = [argument(each, null, values) for each in function.params]
            code = getattr(driver, function.name)(*arguments)
            codes.setdefault(function.name, {})[null.name] = code
    json.dump(codes, sys.stdout)


main()
