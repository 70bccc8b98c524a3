# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings._v2.nvrtc: programs, logs, results as bytes, exceptions."""

from cuda.bindings._v2 import nvrtc as n

SOURCE = b'extern "C" __global__ void f(int *p) { *p = 1; }'
TEMPLATE = b"template <class T> __global__ void t(T *p) { *p = T(); }"


def made(source=SOURCE, *options):
    program = n.create_program(source, b"x.cu")
    n.compile_program(program, options)
    return program


def ptx():
    text = n.get_ptx(made())
    return type(text), b".entry f" in text, text[-1:]


def log_of_an_error():
    program = n.create_program(b"nonsense here;", b"x.cu")
    try:
        n.compile_program(program)
    except n.CompilationError as error:
        log = n.get_program_log(program)
        return type(error), str(error), error.status, b"nonsense" in log, log[-1:]


def lowered_name():
    program = n.create_program(TEMPLATE, b"x.cu")
    n.add_name_expression(program, "t<int>")
    n.compile_program(program)
    return n.get_lowered_name(program, "t<int>")


def headers():
    arguments = [b"typedef int A;", b""], [b"a.h", b"b.h"]
    program = n.create_program(b'#include "a.h"\nA b;', b"x.cu", *arguments)
    return n.compile_program(program)


CASES = [
    ptx,
    log_of_an_error,
    lowered_name,
    headers,
    lambda: n.version(),
    lambda: list(n.get_supported_archs()),
    lambda: n.get_num_supported_archs(),
    lambda: n.get_error_string(6),
    lambda: n.get_error_string(None),
    lambda: n.destroy_program(made()),
    lambda: n.destroy_program(0),
    lambda: n.destroy_program("x"),
    lambda: type(n.create_program(SOURCE, None)),
    lambda: n.create_program("text", b"x.cu"),
    lambda: n.create_program(None, b"x.cu"),
    lambda: n.create_program(5, b"x.cu"),
    lambda: n.create_program(SOURCE, "x.cu"),
    lambda: n.create_program(SOURCE, 5),
    lambda: n.create_program(SOURCE, b"x", [b"a"]),
    lambda: n.create_program(SOURCE, b"x", [b"a"], []),
    lambda: n.create_program(SOURCE, b"x", ["a"], [b"a"]),
    lambda: n.create_program(SOURCE, b"x", 5, [b"a"]),
    lambda: n.create_program(SOURCE, b"x", [None], [b"a"]),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), None),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), []),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), (b"-arch=sm_80",)),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), ["-arch=sm_80"]),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), [b"--unknown"]),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), 5),
    lambda: n.compile_program(n.create_program(SOURCE, b"x"), "-lto"),
    lambda: n.compile_program(0),
    lambda: n.add_name_expression(n.create_program(SOURCE, b"x"), b"f"),
    lambda: n.add_name_expression(n.create_program(SOURCE, b"x"), None),
    lambda: n.add_name_expression(made(), "f"),
    lambda: n.get_lowered_name(made(), b"f"),
    lambda: n.get_lowered_name(made(), "missing"),
    lambda: n.get_ptx(n.create_program(SOURCE, b"x")),
    lambda: n.get_ptx_size(n.create_program(SOURCE, b"x")),
    lambda: n.get_ptx(0),
    lambda: n.get_ptx("x"),
    lambda: len(n.get_cubin(made(SOURCE, b"-arch=sm_80"))) > 100,
    lambda: n.get_cubin_size(made()),
    lambda: n.get_program_log(made()),
    lambda: n.get_bundled_headers_info()[0].available,
    lambda: n.get_bundled_headers_info()[1],
    lambda: n.install_bundled_headers(None, 0),
    lambda: n.install_bundled_headers(b"/tmp", 0),
    lambda: n.set_flow_callback(0, 0, 0),
    lambda: str(n.NvrtcError(6)),
    lambda: n.CompilationError(6).args,
    lambda: n.Result.ERROR_COMPILATION,
    lambda: n.InstallHeadersFlag.FORCE_OVERWRITE,
    lambda: n.BundledHeadersInfo(1),
    lambda: n.missing_name,
]
