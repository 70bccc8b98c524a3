# SPDX-License-Identifier: Apache-2.0
"""Programs of PTX and NVVM IR, and C++ programs with PCH and several targets."""

import io

from cuda.core import Program, ProgramOptions

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
NVVM = """
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k() { ret void }
!nvvm.annotations = !{!0}
!0 = !{void ()* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""
CPP = 'extern "C" __global__ void k(int* p) { *p = 1; }'
TEMPLATE = "template <class T> __global__ void t(T* p) { *p = 1; }"


def make(code, code_type, **options):
    return Program(code, code_type, ProgramOptions(**{"arch": "sm_80", **options}))


def ptx(code=PTX, **options):
    return make(code, "ptx", **options)


def nvvm(code=NVVM, **options):
    return make(code, "nvvm", **options)


def cpp(code=CPP, **options):
    return make(code, "c++", **options)


def shape(code):
    return code.code_type, code.name, type(code.code), code.code[:4], code.symbol_mapping


def several(program, *targets):
    return [shape(program.compile(target)) for target in targets]


def closing(program):
    program.close()
    program.close()
    return program.is_closed, int(program.handle), program.pch_status


def logged(program, target):
    log = io.StringIO()
    program.compile(target, logs=log)
    return bool(log.getvalue())


def status_of(**options):
    program = cpp(**options)
    before = program.pch_status
    program.compile("ptx")
    return before, program.pch_status


CASES = [
    lambda: repr(ptx()),
    lambda: repr(nvvm()),
    lambda: repr(cpp()),
    lambda: ptx().backend,
    lambda: nvvm().backend,
    lambda: type(nvvm().handle),
    lambda: type(ptx().handle),
    lambda: several(ptx(), "cubin", "CUBIN"),
    lambda: several(nvvm(), "ptx", "ltoir", "PTX"),
    lambda: several(cpp(), "ptx", "cubin"),
    lambda: several(cpp(link_time_optimization=True), "ltoir"),
    lambda: several(nvvm(name="mine"), "ptx"),
    lambda: several(nvvm(NVVM.encode()), "ptx"),
    lambda: several(nvvm(bytearray(NVVM.encode())), "ptx"),
    lambda: several(nvvm(extra_sources=[("more", NVVM.replace("@k", "@l"))]), "ptx"),
    lambda: several(nvvm(use_libdevice=True), "ptx"),
    lambda: ptx().compile("ptx"),
    lambda: ptx().compile("ltoir"),
    lambda: nvvm().compile("cubin"),
    lambda: cpp().compile("fatbin"),
    lambda: cpp().compile(None),
    lambda: nvvm("no IR").compile("ptx"),
    lambda: ptx("no PTX"),
    lambda: nvvm(5),
    lambda: make(PTX, "fortran"),
    lambda: make(PTX, "fortran", use_libdevice=True),
    lambda: nvvm(std="c++17"),
    lambda: nvvm(relocatable_device_code=False, use_fast_math=True),
    lambda: nvvm(use_fast_math=False).is_closed,
    lambda: ptx(extra_sources=[("a", "b")]),
    lambda: cpp(extra_sources=[("a", "b")]),
    lambda: ProgramOptions(arch="sm_80", extra_sources="text"),
    lambda: ProgramOptions(arch="sm_80", extra_sources=[("a",)]),
    lambda: ProgramOptions(arch="sm_80", extra_sources=[(1, "b")]),
    lambda: ProgramOptions(arch="sm_80", extra_sources=[("a", 1)]),
    lambda: ProgramOptions(arch="sm_80", extra_sources=[("a", "")]),
    lambda: ptx(numba_debug=True).is_closed,
    lambda: closing(ptx()),
    lambda: closing(nvvm()),
    lambda: closing(cpp()),
    lambda: logged(nvvm(), "ptx"),
    lambda: logged(cpp(CPP + "__device__ int f() { int unused; return 1; }"), "ptx"),
    lambda: cpp(TEMPLATE).compile("ptx", ("t<int>",)).symbol_mapping,
    lambda: cpp(TEMPLATE).compile("ptx", [b"t<int>", "t<float>"]).symbol_mapping,
    lambda: ptx().compile("cubin", ("t<int>",)).symbol_mapping,
    lambda: nvvm().compile("ptx", ("t<int>",)).symbol_mapping,
    lambda: status_of(),
    lambda: status_of(pch=True)[0],
    lambda: nvvm(create_pch="x").pch_status,
]
