# SPDX-License-Identifier: Apache-2.0
"""A machine without a driver: modules import, classes work, calls report the missing driver."""

import ctypes
import os
import subprocess
import sys

import pytest


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(has_driver(), reason="this machine has a driver")

CODE = """
import cuda.bindings.driver as driver
stream = driver.CUstream(5)
config = driver.CUlaunchConfig(gridDimX=1)
for call in (
    lambda: driver.cuInit(0),
    lambda: driver.cuCtxGetCurrent(),
    lambda: driver.cuMemAlloc(bytesize=4),
    lambda: driver.cuStreamSynchronize(stream),
    lambda: driver.cuGetErrorName(0),
):
    try:
        print("returned", call())
    except RuntimeError as error:
        print(error)
"""


def run_without_driver(code):
    settings = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**settings, "HALFWARP_BACKEND": "driver"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_calls_raise_and_name_the_function():
    output = run_without_driver(CODE)
    names = ("cuInit", "cuCtxGetCurrent", "cuMemAlloc", "cuStreamSynchronize", "cuGetErrorName")
    lines = output.splitlines()
    assert [line.split("()")[0] for line in lines] == list(names)
    assert all("CUDA driver" in line for line in lines)


RUNTIME = """
import cuda.bindings.runtime as runtime
for call in (
    lambda: runtime.cudaMalloc(4),
    lambda: runtime.cudaMemGetInfo(),
    lambda: runtime.cudaStreamSynchronize(0),
    lambda: runtime.cudaGLGetDevices(1, runtime.cudaGLDeviceList.cudaGLDeviceListAll),
    lambda: runtime.cudaDriverGetVersion(),
    lambda: runtime.cudaGetErrorString(runtime.cudaError_t.cudaErrorInsufficientDriver),
):
    code, *outputs = call()
    print(code.name, *outputs)
"""


def test_the_runtime_returns_the_code_of_an_insufficient_driver():
    assert run_without_driver(RUNTIME).splitlines() == [
        "cudaErrorInsufficientDriver None",
        "cudaErrorInsufficientDriver None None",
        "cudaErrorInsufficientDriver",
        "cudaErrorInsufficientDriver None None",
        "cudaSuccess 0",
        "cudaSuccess b'CUDA driver version is insufficient for CUDA runtime version'",
    ]
