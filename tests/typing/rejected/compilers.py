# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the use of the compilers and linkers that a type checker must find."""

from cuda.bindings import nvfatbin, nvjitlink, nvrtc, nvvm


def mistakes(program: nvrtc.nvrtcProgram) -> None:
    nvrtc.nvrtcCreateProgram("source", b"x", 0, [], [])  # E: arg-type
    nvrtc.nvrtcCreateProgram(b"source", b"x", 0, [])  # E: call-arg
    nvrtc.nvrtcCompileProgram(program, 1, ["-lto"])  # E: list-item
    nvrtc.nvrtcCompileProgram(program, 1, b"-lto")  # E: arg-type
    nvrtc.nvrtcGetPTX(program, "text")  # E: call-overload
    nvrtc.nvrtcGetPTX(program)  # E: call-overload
    nvrtc.nvrtcResult.SUCCESS  # E: attr-defined
    nvjitlink.create(1, "-arch=sm_90")  # E: arg-type
    nvjitlink.create(["-arch=sm_90"])  # E: call-arg, arg-type
    nvjitlink.add_data(0, nvjitlink.InputType.PTX, "text", 4, "x")  # E: arg-type
    nvjitlink.add_data(0, nvjitlink.InputType.PTX, b"text", 4, b"x")  # E: arg-type
    nvjitlink.add_data(0, "ptx", b"text", 4, "x")  # E: arg-type
    nvjitlink.version() + 1  # E: operator
    nvjitlink.complete(0)[0]  # E: func-returns-value, index
    nvjitlink.nvJitLinkCreate(1, [])  # E: attr-defined
    nvjitlink.Result.NVJITLINK_SUCCESS  # E: attr-defined
    nvjitlink.nvJitLinkError("failed")  # E: arg-type
    nvvm.create_program(0)  # E: call-arg
    nvvm.compile_program(0, ["-opt=3"])  # E: call-arg
    nvvm.ir_version()[4]  # E: misc
    nvvm.get_program_log(0, "log")  # E: arg-type
    nvfatbin.create("-64", 1)  # E: arg-type
    nvfatbin.add_ptx(0, b"", 0, 90, "x", "")  # E: arg-type
    nvfatbin.size()  # E: call-arg
