# SPDX-License-Identifier: Apache-2.0
"""Writes `<library>.pxd` of libraries whose functions raise: inline functions for cimport.

Each function checks its arguments by C type, and calls the Python function.
"""

from __future__ import annotations

import re

from ...kinds import Kind
from ...model import Function, Library, Param
from .. import numpy_values

FIXED_WIDTH = re.compile(r"u?int(8|16|32|64|ptr)_t")


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {
        f"{lib.folder}/{lib.module}.pxd": declarations(lib)
        for lib in libraries.values()
        if lib.raises
    }


def declarations(library: Library) -> str:
    functions = "\n\n\n".join(inline(library, f) for f in library.functions if f.in_python)
    used = sorted({m[0] for m in FIXED_WIDTH.finditer(functions)})
    imports = f"from libc.stdint cimport {', '.join(used)}\n\n\n" if used else ""
    return (
        f"# {library.origin}\n"
        f'"""The functions of {library.package}.{library.module} for cimport."""\n\n'
        f"{imports}{functions}\n"
    )


def inline(library: Library, function: Function) -> str:
    """`cdef inline intptr_t create(uint32_t num_options, options) except? 0`"""
    params = ", ".join(arguments(library, function))
    ret = return_type(library, function)
    clause = " except? 0" if ret else ""
    module = f"{library.package}.{library.module}"
    return (
        f"cdef inline {f'{ret} ' if ret else ''}{function.python_name}({params}){clause}:\n"
        f"    from {module} import {function.python_name} as function\n"
        f"    return function({', '.join(p.partition('=')[0] for p in function.py)})"
    )


def arguments(library: Library, function: Function) -> list[str]:
    """The Python parameters with their C types."""
    declarations = {p.name: argument(library, p) for p in function.params}
    for name, field in numpy_values.assembled_fields(library, function).items():
        declarations[name] = f"{numpy_values.c_type(library, field)} {name}".lstrip()
    return [declarations[p.partition("=")[0]] + "".join(p.partition("=")[1:]) for p in function.py]


def argument(library: Library, param: Param) -> str:
    c_type = python_c_type(library, param)
    return f"{c_type} {param.name}" if c_type else param.name


def return_type(library: Library, function: Function) -> str:
    """The C type of a single number that a function returns; empty for any other result."""
    outputs = [p for p in function.params if p.kind.is_returned]
    if function.result or len(function.returns) != 1 or len(outputs) != 1:
        return ""
    field = numpy_values.result_field(library, outputs[0])
    return numpy_values.c_type(library, field) if field else python_c_type(library, outputs[0])


def result_class(library: Library, function: Function) -> str:
    """The Python class of a single result, if it is no number."""
    outputs = [p for p in function.params if p.kind.is_returned]
    if function.result:
        return function.result
    if not outputs and "*" not in function.ret:
        return function.ret if function.returns_code else "int"
    if outputs and (word := numpy_values.result_word(library, outputs[0])):
        return word
    kind = outputs[0].kind if outputs else Kind("out", "str")
    return kind.element if kind.shape == "object" else kind.row.stub


def python_c_type(library: Library, param: Param) -> str:
    """The C type of a Python value; empty if it is passed as an object."""
    if param.kind.row.pxd != "number":
        return param.kind.row.pxd
    base = param.c_type.removesuffix("*").strip().replace("bool", "bint")
    return numpy_values.plain(library, base)
