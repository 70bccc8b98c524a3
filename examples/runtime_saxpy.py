# SPDX-License-Identifier: Apache-2.0
"""Single-precision a * x + y with the runtime API: compile, load, copy, launch, check.

The runtime creates the device's context itself. The launch is a driver call, which accepts the
runtime's handles. Runs without a GPU if HALFWARP_BACKEND=emulator is set. Prints the device, the
time of the kernel, the largest error against NumPy, and "verified".
"""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver, nvrtc, runtime

SOURCE = b"""
extern "C" __global__ void saxpy(float a, const float* x, float* y, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
Kind = runtime.cudaMemcpyKind


def check(result):
    """Return the outputs of a call: none, one, or several."""
    code, *outputs = result
    if int(code) != 0:
        raise RuntimeError(code)
    return outputs[0] if len(outputs) == 1 else outputs


def compile_for(properties):
    """Return the kernel as PTX for a device with these properties."""
    program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"saxpy.cu", 0, None, None))
    options = [b"--gpu-architecture=compute_%d%d" % (properties.major, properties.minor)]
    check(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    check(nvrtc.nvrtcDestroyProgram(program))
    return ptx


def main(n: int = 1_000_000) -> int:
    properties = check(runtime.cudaGetDeviceProperties(check(runtime.cudaGetDevice())))
    stream = check(runtime.cudaStreamCreate())
    ptx = compile_for(properties)
    library = check(runtime.cudaLibraryLoadData(ptx, None, None, 0, None, None, 0))
    kernel = check(runtime.cudaLibraryGetKernel(library, b"saxpy"))
    start, end = (check(runtime.cudaEventCreate()) for _ in range(2))

    x, y = (np.random.default_rng(seed).random(n, dtype=np.float32) for seed in range(2))
    result = np.empty_like(y)
    device_x, device_y = (check(runtime.cudaMallocAsync(each.nbytes, stream)) for each in (x, y))
    copy, size = runtime.cudaMemcpyAsync, x.nbytes
    check(copy(device_x, x.ctypes.data, size, Kind.cudaMemcpyHostToDevice, stream))
    check(copy(device_y, y.ctypes.data, size, Kind.cudaMemcpyHostToDevice, stream))
    types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    arguments = ((2.5, device_x, device_y, n), types)
    function, grid = check(driver.cuKernelGetFunction(kernel)), (n + 255) // 256
    check(runtime.cudaEventRecord(start, stream))
    check(driver.cuLaunchKernel(function, grid, 1, 1, 256, 1, 1, 0, stream, arguments, 0))
    check(runtime.cudaEventRecord(end, stream))
    check(copy(result.ctypes.data, device_y, size, Kind.cudaMemcpyDeviceToHost, stream))
    check(runtime.cudaStreamSynchronize(stream))

    error = float(np.max(np.abs(result - (np.float32(2.5) * x + y))))
    print(f"device     {properties.name.decode()} (sm_{properties.major}{properties.minor})")
    print(f"elements   {n:,}")
    print(f"kernel     {check(runtime.cudaEventElapsedTime(start, end)):.3f} ms")
    print(f"max error  {error:.2e} against NumPy")
    for address, event in ((device_x, start), (device_y, end)):
        check(runtime.cudaFreeAsync(address, stream))
        check(runtime.cudaEventDestroy(event))
    check(runtime.cudaLibraryUnload(library))
    check(runtime.cudaStreamDestroy(stream))
    print("verified" if error <= 1e-6 else "FAILED: the device and NumPy disagree")
    return 0 if error <= 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
