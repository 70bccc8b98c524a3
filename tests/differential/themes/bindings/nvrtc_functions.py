# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings.nvrtc: programs, logs, results written in place."""

from cuda.bindings import nvrtc as n

SOURCE = b'extern "C" __global__ void f(int *p) { *p = 1; }'
TEMPLATE = b"template <class T> __global__ void t(T *p) { *p = T(); }"


def made(source=SOURCE, *options):
    program = n.nvrtcCreateProgram(source, b"x.cu", 0, [], [])[1]
    result = n.nvrtcCompileProgram(program, len(options), list(options))
    return program, result


def ptx():
    program, result = made()
    error, size = n.nvrtcGetPTXSize(program)
    text = b" " * size
    return result, error, n.nvrtcGetPTX(program, text), b".entry f" in text, text[-1:]


def log_of_an_error():
    program, result = made(b"nonsense here;")
    error, size = n.nvrtcGetProgramLogSize(program)
    text = b" " * size
    return result, error, n.nvrtcGetProgramLog(program, text), b"nonsense" in text


def lowered_name():
    program = n.nvrtcCreateProgram(TEMPLATE, b"x.cu", 0, [], [])[1]
    facts = n.nvrtcAddNameExpression(program, b"t<int>"), n.nvrtcCompileProgram(program, 0, [])
    return facts, n.nvrtcGetLoweredName(program, b"t<int>")


def destroyed():
    program, _ = made()
    return n.nvrtcDestroyProgram(program)


def headers():
    program = n.nvrtcCreateProgram(
        b'#include "a.h"\nA b;', b"x.cu", 2, [b"typedef int A;", b""], [b"a.h", b"b.h"]
    )[1]
    return n.nvrtcCompileProgram(program, 0, [])


CASES = [
    ptx,
    log_of_an_error,
    lowered_name,
    destroyed,
    headers,
    lambda: n.nvrtcVersion(),
    lambda: n.nvrtcGetSupportedArchs(),
    lambda: n.nvrtcGetNumSupportedArchs(),
    lambda: n.nvrtcGetErrorString(n.nvrtcResult.NVRTC_ERROR_COMPILATION),
    lambda: n.nvrtcGetErrorString(6),
    lambda: n.nvrtcGetErrorString(None),
    lambda: made(SOURCE, b"--gpu-architecture=sm_80")[1],
    lambda: made(SOURCE, b"--unknown")[1],
    lambda: made(SOURCE, "--text")[1],
    lambda: n.nvrtcCompileProgram(made()[0], 2, [b"-x"]),
    lambda: n.nvrtcCompileProgram(made()[0], 0, None),
    lambda: n.nvrtcCompileProgram(made()[0], 0, (b"-x",)),
    lambda: n.nvrtcCreateProgram("text", b"x.cu", 0, [], []),
    lambda: n.nvrtcCreateProgram(SOURCE, "x.cu", 0, [], []),
    lambda: n.nvrtcCreateProgram(SOURCE, None, 0, [], []),
    lambda: n.nvrtcCreateProgram(SOURCE, b"x", 0, None, None)[0],
    lambda: n.nvrtcCreateProgram(SOURCE, b"x", 1, [b"a"], []),
    lambda: n.nvrtcCreateProgram(None, b"x", 0, [], []),
    lambda: type(n.nvrtcCreateProgram(SOURCE, b"x", 0, [], [])[1]),
    lambda: n.nvrtcGetPTXSize(n.nvrtcCreateProgram(SOURCE, b"x", 0, [], [])[1]),
    lambda: n.nvrtcGetPTXSize(None),
    lambda: n.nvrtcGetPTXSize("x"),
    lambda: n.nvrtcGetCUBINSize(made()[0]),
    lambda: n.nvrtcGetCUBINSize(made(SOURCE, b"-arch=sm_80")[0])[0],
    lambda: n.nvrtcGetPTX(made()[0], "text"),
    lambda: n.nvrtcGetPTX(made()[0], None),
    lambda: n.nvrtcGetPTX(made()[0], bytearray(100000))[0],
    lambda: n.nvrtcGetLoweredName(made()[0], b"f"),
    lambda: n.nvrtcAddNameExpression(made()[0], b"f"),
    lambda: n.nvrtcAddNameExpression(made()[0], "f"),
    lambda: n.nvrtcResult.NVRTC_ERROR_COMPILATION,
    lambda: n.nvrtcProgram(5) == n.nvrtcProgram(5),
    lambda: repr(n.nvrtcProgram(5)),
    lambda: n.sizeof(n.nvrtcProgram),
    lambda: n.sizeof(n.nvrtcResult),
    lambda: n.missing_name,
]
