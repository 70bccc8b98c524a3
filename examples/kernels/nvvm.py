# SPDX-License-Identifier: Apache-2.0
"""Compiles NVVM IR, as written by a compiler of another language, and calls libdevice from it.

Prints the IR version that the library supports, and "correct" if the kernel agrees with NumPy.
"""

import sys

import numpy as np
from cuda.bindings import nvvm
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

# From compute capability 10.0 on, NVVM needs IR of a newer LLVM, whose pointers are untyped.
SOURCE = """
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-\
f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare double @__nv_cbrt(double)

define void @roots(<pointer> %values) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr double, <pointer> %values, i32 %i
  %value = load double, <pointer> %place
  %root = call double @__nv_cbrt(double %value)
  store double %root, <pointer> %place
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{<function> @roots, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""
N = 64


def source_for(device):
    has_types = device.compute_capability < (10, 0)
    pointer, function = ("double*", "void (double*)*") if has_types else ("ptr", "ptr")
    return SOURCE.replace("<pointer>", pointer).replace("<function>", function)


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}", use_libdevice=True)
    kernel = Program(source_for(device), "nvvm", options).compile("ptx").get_kernel("roots")

    values = np.linspace(0, 100, N)
    result = np.empty_like(values)
    with device.allocate(values.nbytes, stream=stream) as memory:
        memory.copy_from(values, stream=stream)
        launch(stream, LaunchConfig(grid=1, block=N), kernel, memory)
        memory.copy_to(result, stream=stream)
        stream.sync()
    stream.close()
    correct = np.allclose(result, np.cbrt(values), rtol=1e-14)
    print(f"NVVM IR {nvvm.ir_version()[:2]}: {'correct' if correct else 'WRONG'}")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
