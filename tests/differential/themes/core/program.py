# SPDX-License-Identifier: Apache-2.0
"""Program: kinds of code, targets, names, logs, closing."""

import io
import pickle

from cuda.core import Device, Program, ProgramOptions

Device(0).set_current()
SOURCE = 'extern "C" __global__ void f(int *p, int n) { p[0] = n; }'
TEMPLATE = "template <class T> __global__ void t(T *p) { *p = T(); }"
options = ProgramOptions(arch="sm_90")


def program(source=SOURCE, code_type="c++", **fields):
    return Program(source, code_type, ProgramOptions(arch="sm_90", **fields))


def compiled(target="ptx", **fields):
    return program(**fields).compile(target)


def kinds_of_names(*names):
    mapping = program(TEMPLATE).compile("ptx", name_expressions=names).symbol_mapping
    return {name: (type(symbol), symbol) for name, symbol in mapping.items()}


def text_of(operation):
    try:
        operation()
    except Exception as error:
        return str(error)


def log_of_an_error():
    text = text_of(lambda: program("nonsense here;").compile("ptx"))
    return "compilation log" in text, "NVRTC_ERROR_COMPILATION" in text, "nonsense" in text


def log_of_a_warning():
    log = io.StringIO()
    program("__global__ void f() { int unused; }").compile("ptx", logs=log)
    return "unused" in log.getvalue()


def usable_after_an_error():
    result = program("nonsense here;")
    return [text_of(lambda: result.compile("ptx"))[:22] for _ in range(2)]


def closed():
    result = program()
    result.close()
    result.close()
    return result


CASES = [
    log_of_an_error,
    log_of_a_warning,
    usable_after_an_error,
    lambda: Program(),
    lambda: Program(SOURCE),
    lambda: Program(3, "c++"),
    lambda: Program(SOURCE, "fortran"),
    lambda: text_of(lambda: Program(SOURCE, "Fortran")),
    lambda: Program(SOURCE, 3),
    lambda: Program(SOURCE, "c++", 3),
    lambda: Program(SOURCE, "c++", {"arch": "sm_90"}).backend,
    lambda: Program(SOURCE, "C++", options).backend,
    lambda: Program(SOURCE.encode(), "c++", options).backend,
    lambda: Program(3, "nvvm", options),
    lambda: Program(SOURCE, "c++", ProgramOptions(extra_sources=[("a", "b")])),
    lambda: program().backend,
    lambda: type(program().backend),
    lambda: type(program().handle),
    lambda: repr(program()),
    lambda: program().pch_status,
    lambda: program() == program(),
    lambda: pickle.dumps(program()),
    lambda: compiled("ptx").code_type,
    lambda: type(compiled("ptx").code),
    lambda: compiled("ptx").code[-1:],
    lambda: compiled("PTX").code_type,
    lambda: compiled("ptx").name,
    lambda: compiled("ptx", name="other.cu").name,
    lambda: compiled("ptx").symbol_mapping,
    lambda: compiled("cubin").code_type,
    lambda: compiled("cubin").code[:4],
    lambda: compiled("ltoir").code_type,
    lambda: compiled("fatbin"),
    lambda: compiled("x"),
    lambda: compiled(3),
    lambda: text_of(lambda: compiled("x"))[:38],
    lambda: program("nonsense here;").compile("ptx"),
    lambda: program(std="c++99").compile("ptx"),
    lambda: kinds_of_names("t<int>"),
    lambda: kinds_of_names("t<int>", "t<float>"),
    lambda: kinds_of_names(b"t<int>"),
    lambda: program(TEMPLATE).compile("ptx", name_expressions=["t<int>"]).name,
    lambda: program(TEMPLATE).compile("ptx", name_expressions=("missing",)),
    lambda: program(TEMPLATE).compile("ptx", name_expressions="t<int>"),
    lambda: program(TEMPLATE).compile("ptx", name_expressions=(3,)),
    lambda: program().compile("ptx", logs=3).code_type,
    lambda: program().compile("ptx", cache={}),
    lambda: program().compile(),
    lambda: program().compile(target_type="ptx").code_type,
    lambda: closed().is_closed,
    lambda: closed().compile("ptx"),
    lambda: int(closed().handle),
    lambda: repr(closed()),
    lambda: closed().backend,
]
