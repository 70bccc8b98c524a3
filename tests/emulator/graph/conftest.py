# SPDX-License-Identifier: Apache-2.0
"""A context, streams and graph helpers, and `check` for calls that must succeed."""

import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import Device, emulation

# Eager mode: a launch returns when its work has completed.
in_background = pytest.mark.skipif(
    emulation.is_active() and emulation.options()["mode"] == "eager",
    reason="the mode runs work inside the call",
)


def skip_without(name):
    """Skip the test if the driver lacks a function."""
    default = driver.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    status, address, _ = driver.cuGetProcAddress(name.encode(), driver.CUDA_VERSION, default)
    if status or not int(address):
        pytest.skip(f"the driver has no {name}")


def check(status, *results):
    """Return the results of a call that must succeed."""
    assert status == 0, status
    return results[0] if len(results) == 1 else results


@pytest.fixture(autouse=True)
def context():
    Device(0).set_current()


@pytest.fixture
def streams():
    """Create three streams that do not synchronize with the default stream."""
    flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    created = [check(*driver.cuStreamCreate(flags)) for _ in range(3)]
    yield created
    for stream in created:
        check(*driver.cuStreamDestroy(stream))


@pytest.fixture
def events():
    created = [check(*driver.cuEventCreate(0)) for _ in range(3)]
    yield created
    for each in created:
        check(*driver.cuEventDestroy(each))


@pytest.fixture
def memory():
    """1 KiB of device memory, all zero."""
    address = check(*driver.cuMemAlloc(1024))
    check(*driver.cuMemsetD8(address, 0, 1024))
    check(*driver.cuCtxSynchronize())  # the streams do not synchronize with the default stream
    yield int(address)
    check(*driver.cuMemFree(address))


@pytest.fixture
def executable(graph):
    """Instantiate the graph at the first call; destroy the executable graph after the test."""
    all_made = []

    def make(flags=0, of=graph):
        all_made.append(check(*driver.cuGraphInstantiate(of, flags)))
        return all_made[-1]

    yield make
    for each in all_made:
        check(*driver.cuGraphExecDestroy(each))


PTX = b""".version 7.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry store(.param .u64 out, .param .u32 value) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value]; st.global.u32 [%rd1], %r1; ret;
}
.visible .entry increase(.param .u64 out, .param .u32 value) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret;
}
.visible .entry choose(.param .u64 handle, .param .u64 from) {
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle]; ld.param.u64 %rd2, [from]; ld.global.u32 %r1, [%rd2];
  { .param .b64 a; .param .b32 b;
    st.param.b64 [a+0], %rd1; st.param.b32 [b+0], %r1;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
}
"""


class Kernels:
    """Loads a module with the kernels `store`, `increase` and `choose`, and adds nodes of them."""

    def __init__(self):
        self.module = check(*driver.cuModuleLoadData(PTX))

    def function(self, name):
        return check(*driver.cuModuleGetFunction(self.module, name.encode()))

    def parameters(self, name, first, second):
        """Return the parameters of a node of one thread; retain the memory that they point at."""
        types = (ctypes.c_uint64, ctypes.c_uint64 if name == "choose" else ctypes.c_uint32)
        values = [kind(int(v)) for kind, v in zip(types, (first, second), strict=True)]
        pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(v) for v in values))
        params = driver.CUDA_KERNEL_NODE_PARAMS()
        params.func = self.function(name)
        for size in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
            setattr(params, size, 1)
        params.kernelParams = ctypes.addressof(pointers)
        self.refs = values, pointers
        return params

    def add(self, graph, name, first, second, *after):
        parameters = self.parameters(name, first, second)
        return check(*driver.cuGraphAddKernelNode(graph, list(after), len(after), parameters))


@pytest.fixture
def kernels():
    kernels_of_module = Kernels()
    yield kernels_of_module
    check(*driver.cuModuleUnload(kernels_of_module.module))


@pytest.fixture
def graph():
    new_graph = check(*driver.cuGraphCreate(0))
    yield new_graph
    check(*driver.cuGraphDestroy(new_graph))


def empty(graph, *after):
    return check(*driver.cuGraphAddEmptyNode(graph, list(after), len(after)))


def fill(graph, address, value, *after, width=16):
    parameters = driver.CUDA_MEMSET_NODE_PARAMS()
    parameters.dst, parameters.value, parameters.elementSize = address, value, 1
    parameters.width, parameters.height = width, 1
    context = check(*driver.cuCtxGetCurrent())
    return check(*driver.cuGraphAddMemsetNode(graph, list(after), len(after), parameters, context))


def copy_parameters(to, from_, width=16):
    parameters = driver.CUDA_MEMCPY3D()
    kind = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    parameters.srcMemoryType = parameters.dstMemoryType = kind
    parameters.srcDevice, parameters.dstDevice = from_, to
    parameters.WidthInBytes, parameters.Height, parameters.Depth = width, 1, 1
    return parameters


def copy(graph, to, from_, *after):
    context = check(*driver.cuCtxGetCurrent())
    parameters = copy_parameters(to, from_)
    return check(*driver.cuGraphAddMemcpyNode(graph, list(after), len(after), parameters, context))


def read(address, size):
    data = bytearray(size)
    check(*driver.cuMemcpyDtoH(data, address, size))
    return bytes(data)


def word(address):
    return int.from_bytes(read(address, 4), "little")


def launch(graph, stream, times=1):
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphUpload(executable, stream))
    for _ in range(times):
        check(*driver.cuGraphLaunch(executable, stream))
    check(*driver.cuStreamSynchronize(stream))
    check(*driver.cuGraphExecDestroy(executable))
