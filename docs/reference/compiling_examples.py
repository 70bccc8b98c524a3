# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on compiling and linking."""

from cuda.core import Device, Program, ProgramOptions

device = Device()
device.set_current()
source = """
template <typename T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }
extern "C" __global__ void clear(int* x) { x[threadIdx.x] = 0; }
"""

# example: Program, ProgramOptions
options = ProgramOptions(arch=f"sm_{device.arch}", std="c++17", define_macro=("N", "4"))
program = Program(source, "c++", options)
code = program.compile("cubin", name_expressions=["fill<float>"])
kernel = code.get_kernel("fill<float>")

# example: Program.compile
from io import StringIO

log = StringIO()
ptx = program.compile("ptx", logs=log).code

# example: ObjectCode
from cuda.core import ObjectCode

loaded = ObjectCode.from_ptx(ptx, name="loaded")
assert loaded.code_type == "ptx"

# example: ObjectCode.get_kernel
kernel = loaded.get_kernel("clear")

# example: ObjectCode.from_cubin
kernel = ObjectCode.from_cubin(code.code).get_kernel("clear")

# example: ObjectCode.from_ptx
kernel = ObjectCode.from_ptx(ptx).get_kernel("clear")

# example: ObjectCode.code
image = code.code
assert image[:4] == b"\x7fELF"

# example: Linker, LinkerOptions
from cuda.core import Linker, LinkerOptions

parts = []
for text in (
    'extern __device__ int twice(int); extern "C" __global__ void k(int* x) { *x = twice(*x); }',
    "__device__ int twice(int x) { return 2 * x; }",
):
    separate = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
    parts.append(Program(text, "c++", separate).compile("ptx"))
linked = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
kernel = linked.get_kernel("k")

# example: Linker.link
linked = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
