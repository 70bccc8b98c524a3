# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cuda-core: LTO with nvJitLink, and a kernel from NVVM IR."""

import ctypes

from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)

CALLER = """
extern __device__ int twice(int);
extern "C" __global__ void caller(int* out) { *out = twice(21); }
"""
CALLEE = "__device__ int twice(int v) { return 2 * v; }"

NVVM = """
target triple = "nvptx64-nvidia-cuda"
target datalayout = "{layout}"

define void @store({pointer} %out, i32 %value) {{
entry:
  %square = mul i32 %value, %value
  store i32 %square, {pointer} %out, align 4
  ret void
}}

!nvvm.annotations = !{{!0}}
!0 = !{{{function} @store, !"kernel", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 2, i32 0, i32 3, i32 1}}
"""
TYPED = {"pointer": "i32*", "function": "void (i32*, i32)*"}  # below compute capability 10.0
OPAQUE = {"pointer": "ptr", "function": "ptr"}
LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)


def compile_lto(source):
    options = ProgramOptions(arch=arch, relocatable_device_code=True, link_time_optimization=True)
    return Program(source, code_type="c++", options=options).compile("ltoir")


def run(kernel, *arguments):
    result.value = 0
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer, *arguments)
    stream.sync()
    return result.value


device = Device()
device.set_current()
arch = f"sm_{device.arch}"
stream = device.create_stream()
buffer = LegacyPinnedMemoryResource().allocate(4)
result = ctypes.c_int.from_address(int(buffer.handle))

assert Linker.which_backend() == "nvJitLink"
options = LinkerOptions(arch=arch, link_time_optimization=True, lineinfo=True)
linker = Linker(compile_lto(CALLER), compile_lto(CALLEE), options=options)
linked = run(linker.link("cubin").get_kernel("caller"))

pointers = TYPED if device.compute_capability < (10, 0) else OPAQUE
program = Program(NVVM.format(layout=LAYOUT, **pointers), "nvvm", ProgramOptions(arch=arch))
from_nvvm = run(program.compile("ptx").get_kernel("store"), ctypes.c_int(9))

assert (linked, from_nvvm) == (42, 81), (linked, from_nvvm)
print(f"linked {linked}, from NVVM {from_nvvm}")
