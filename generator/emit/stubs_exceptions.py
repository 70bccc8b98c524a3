# SPDX-License-Identifier: Apache-2.0
"""Writes `<library>.pyi` of libraries whose functions raise: outputs alone, plain ints and str."""

from __future__ import annotations

from ..model import Enum, Function, Library, Param
from .function_pxd import python_c_type

INDENT = "    "
HEAD = '''\
# {origin}
"""The {name} API. Functions return their outputs, and raise {exception} when they fail."""

from collections.abc import Sequence
from enum import IntEnum
from typing import SupportsIndex, TypeAlias

from typing_extensions import Buffer

_Buffer: TypeAlias = int | Buffer | None
_Options: TypeAlias = Sequence[str] | Sequence[bytes] | int


class {exception}(Exception):
    status: int
    def __init__(self, status: SupportsIndex) -> None: ...
'''
INPUTS = {
    "in:str": "str",
    "in:options": "_Options",
    "in:buffer": "_Buffer",
    "in:buffer*": "_Buffer",
}


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {
        f"{lib.folder}/{name}.pyi": module(lib) for name, lib in libraries.items() if lib.raises
    }


def module(library: Library) -> str:
    head = HEAD.format(
        origin=library.origin, name=library.name, exception=library.exception
    )
    derived = [f"class {name}({library.exception}): ...\n" for name in library.exceptions]
    enums = [enum_class(e) for e in library.enums]
    constants = "".join(f"{c.name}: int\n" for c in library.constants)
    functions = "".join(function(library, f) for f in library.functions if f.in_python)
    return "\n\n".join(p for p in (head, *derived, *enums, constants + functions) if p)


def enum_class(enum: Enum) -> str:
    members = "".join(f"{INDENT}{m.name} = {m.value}\n" for m in enum.members)
    return f"class {enum.name}(IntEnum):\n{members}"


def function(library: Library, f: Function) -> str:
    kinds = {p.name: p for p in f.params}
    params = ", ".join(f"{name}: {input_type(library, kinds[name])}" for name in f.py)
    return f"def {f.python_name}({params}) -> {result_type(library, f)}: ...\n"


def input_type(library: Library, param: Param) -> str:
    if param.kind in INPUTS:
        return INPUTS[param.kind]
    is_float = python_c_type(library, param) in ("float", "double")
    return "float" if is_float else "SupportsIndex"


def result_type(library: Library, f: Function) -> str:
    outputs = [output_type(library, p) for p in f.params if p.kind.startswith("out")]
    if f.ret.endswith("*"):
        outputs.insert(0, "str")
    elif f.ret not in (library.result_enum, "void"):
        outputs.insert(0, "int")
    if not outputs:
        return "None"
    return outputs[0] if len(outputs) == 1 else f"tuple[{', '.join(outputs)}]"


def output_type(library: Library, param: Param) -> str:
    if param.kind.startswith("out:str"):
        return "str"
    return "float" if python_c_type(library, param) in ("float", "double") else "int"
