# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the runtime's tests: checked calls, kernels compiled at run time, latches."""

import ctypes
import os
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest
from cuda.bindings import driver, nvrtc, runtime
from cuda.core import emulation

# A driver that loads a kernel lazily waits for running kernels, and some here wait for the test.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

SOURCE = b"""
extern "C" {
__device__ int counter = 5;
__global__ void saxpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void latch(volatile int* flag) {
    while (*flag == 0) { }
}
__global__ void with_shared(int* out) {
    extern __shared__ int dynamic[];
    __shared__ int buffer[256];
    buffer[threadIdx.x % 256] = dynamic[threadIdx.x % 4];
    __syncthreads();
    out[threadIdx.x] = buffer[(threadIdx.x + 1) % 256];
}
}
"""


def ok(result):
    """Return the outputs of a call that must succeed: none, one, or a tuple."""
    code, *outputs = result
    assert int(code) == 0, f"{code!r}"
    if not outputs:
        return None
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@pytest.fixture(autouse=True)
def first_device():
    """Make the first device current and clear the last error."""
    ok(runtime.cudaSetDevice(0))
    runtime.cudaGetLastError()
    yield
    runtime.cudaGetLastError()


@pytest.fixture(scope="session")
def machine_code():
    """Compile the kernels above for this device, or to PTX on the emulator."""
    major = ok(
        runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrComputeCapabilityMajor, 0)
    )
    minor = ok(
        runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrComputeCapabilityMinor, 0)
    )
    program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"kernels.cu", 0, None, None))
    options = [f"--gpu-architecture=compute_{major}{minor}".encode()]
    ok(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    ok(nvrtc.nvrtcDestroyProgram(program))
    return ptx


@pytest.fixture
def library(machine_code):
    """Load the kernels."""
    loaded = ok(runtime.cudaLibraryLoadData(machine_code, None, None, 0, None, None, 0))
    yield loaded
    ok(runtime.cudaLibraryUnload(loaded))


@pytest.fixture
def stream():
    """Create a stream that does not synchronize with the default stream."""
    result = ok(runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking))
    yield result
    ok(runtime.cudaStreamDestroy(result))


@pytest.fixture
def memory():
    """Allocate device memory that is freed after the test."""
    created = []

    def allocate(size):
        created.append(ok(runtime.cudaMalloc(size)))
        return created[-1]

    yield allocate
    for address in created:
        ok(runtime.cudaFree(address))


def launch(kernel, *arguments, grid=1, block=1, shared=0, stream=0):
    """Launch with the driver's function, which accepts the runtime's kernel. Arguments: ctypes."""
    addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
    pointers = ctypes.addressof(addresses) if arguments else 0
    function = ok(driver.cuKernelGetFunction(kernel))
    ok(driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, pointers, 0))


@pytest.fixture
def held(library, stream):
    """A function that blocks a stream until its `with` block ends."""
    if emulation.is_active() and emulation.options()["mode"] == "eager":
        pytest.skip("work cannot be held back in mode=eager, where the launch itself would wait")

    @contextmanager
    def hold(target=stream):
        address = ok(runtime.cudaHostAlloc(4, runtime.cudaHostAllocMapped))
        flag = ctypes.c_int.from_address(address)
        flag.value = 0
        launch(
            ok(runtime.cudaLibraryGetKernel(library, b"latch")),
            ctypes.c_void_p(address),
            stream=target,
        )
        try:
            yield
        finally:
            flag.value = 1
            ok(runtime.cudaStreamSynchronize(target))
            ok(runtime.cudaFreeHost(address))

    return hold


@pytest.fixture
def run_python():
    """Run code in a fresh interpreter on the same backend; return its output."""

    def run(code, **environment):
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + textwrap.dedent(code)],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    return run


PREAMBLE = """
from cuda.bindings import driver, runtime
def ok(result):
    code, *outputs = result
    assert int(code) == 0, repr(code)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
"""
