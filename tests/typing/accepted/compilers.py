# SPDX-License-Identifier: Apache-2.0
"""Typical code for the compilers and linkers that type checkers accept; checked, never run."""

from cuda.bindings import nvfatbin, nvjitlink, nvrtc, nvvm


def compiled(source: bytes) -> bytes:
    error, program = nvrtc.nvrtcCreateProgram(source, None, 0, [], [])
    error, program = nvrtc.nvrtcCreateProgram(source, b"x.cu", 0, [], [])
    options = [b"--gpu-architecture=sm_90"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        error, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.decode())
    error, size = nvrtc.nvrtcGetPTXSize(program)
    text = bytearray(size)
    nvrtc.nvrtcGetPTX(program, text)
    error, log = nvrtc.nvrtcGetProgramLog(program, size)  # the form of cuda-python 0.x
    assert log.rstrip(b"\0") == b""
    error, major, minor = nvrtc.nvrtcVersion()
    error, architectures = nvrtc.nvrtcGetSupportedArchs()
    assert major * 10 + minor > 100 and max(architectures) >= 90
    nvrtc.nvrtcDestroyProgram(program)
    return bytes(text)


def linked(ptx: bytes) -> bytearray:
    handle = nvjitlink.create(1, ["-arch=sm_90"])
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx, len(ptx), "x.ptx")
        nvjitlink.complete(handle)
        image = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, image)
    except nvjitlink.nvJitLinkError as error:
        if error.status == nvjitlink.Result.ERROR_PTX_COMPILE:
            log = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, log)
        raise
    finally:
        nvjitlink.destroy(handle)
    return image


def translated(bitcode: bytes) -> str:
    major, minor = nvvm.version()
    program = nvvm.create_program()
    nvvm.add_module_to_program(program, bitcode, len(bitcode), "kernel")
    options = [b"-arch=compute_90", b"-opt=3"]
    nvvm.compile_program(program, len(options), options)
    text = bytearray(nvvm.get_compiled_result_size(program))
    nvvm.get_compiled_result(program, text)
    nvvm.destroy_program(program)
    return f"{major}.{minor} {text.decode()}"


def packed(cubin: bytes) -> bytearray:
    handle = nvfatbin.create(["-64"], 1)
    nvfatbin.add_cubin(handle, cubin, len(cubin), "90", "x")
    image = bytearray(nvfatbin.size(handle))
    nvfatbin.get(handle, image)
    nvfatbin.destroy(handle)
    return image
