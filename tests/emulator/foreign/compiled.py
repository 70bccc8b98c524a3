# SPDX-License-Identifier: Apache-2.0
"""The published packages as most programs use them: default options, cubins, linked cubins."""

import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

FILL = 'extern "C" __global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x * 3; }'
CALLS = """__device__ int three(int);
extern "C" __global__ void fill(int* out) { out[threadIdx.x] = three(threadIdx.x); }"""
CALLED = "__device__ int three(int i) { return i * 3; }"


def check(device, code):
    stream = device.create_stream()
    buffer = device.allocate(128, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("fill"), buffer)
    values = numpy.zeros(32, numpy.int32)
    (copied,) = driver.cuMemcpyDtoHAsync(
        values.ctypes.data, int(buffer.handle), values.nbytes, stream.handle
    )
    assert copied == 0
    stream.sync()
    assert numpy.array_equal(values, 3 * numpy.arange(32))
    buffer.close(stream)
    stream.close()


def linked(kind, **options):
    parts = [
        Program(each, "c++", ProgramOptions(relocatable_device_code=True, **options)).compile(kind)
        for each in (CALLS, CALLED)
    ]
    return Linker(*parts, options=LinkerOptions(**options)).link("cubin")


device = Device()
device.set_current()
check(device, Program(FILL, "c++").compile("cubin"))
print("compiled")
check(device, linked("cubin"))
print("linked")
check(device, linked("ptx"))
print("linked from PTX")
check(device, linked("ltoir", link_time_optimization=True))
print("linked from LTO-IR")
