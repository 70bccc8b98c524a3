# SPDX-License-Identifier: Apache-2.0
"""Writes `cy<library>.pyx`, whose functions call through the table, and the C header for the calls.

The C header calls each slot by the type in the CUDA header, so a wrong fact is a compile error."""

from __future__ import annotations

import re

from ...classify import split_type
from ...facts import FactTypedef
from ...model import Function, Library, Param
from ...resolution.cython_text import cython_type, declare
from .cy_pxd import function_line


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    files = {}
    for name, library in libraries.items():
        writer = Writer(library)
        files[f"{library.folder}/cy{name}.pyx"] = writer.module()
        files[f"build/generated/driver/cy{name}_calls.h"] = writer.header()
    return files


class Writer:
    def __init__(self, library: Library):
        self.library = library
        self.prefix = f"cy{library.name}"
        self.foreign = {
            getattr(item, "name", None) or item.tag
            for item in library.facts.types
            if item.header in library.decisions.module_scope
            or getattr(item, "word", "") == "define"
        }
        self.tags = tag_words(library)
        self.tags |= dict.fromkeys(library.decisions.foreign_structs, "struct")
        self.structs = {s.name for s in library.structs}
        self.enums = {e.name for e in library.enums}

    # --- Cython --------------------------------------------------------------------------------

    def module(self) -> str:
        declared = "".join(f"    {self.extern_line(f)}\n" for f in self.library.functions)
        bodies = "\n\n".join(self.body(f) for f in self.library.functions)
        return f"""# {self.library.origin}
# cython: show_performance_hints=False
\"\"\"The {self.library.name} API as C functions: each call goes through the loader's table.\"\"\"

from {self.library.package} import _low  # provides the capsule
from {self.library.package}._low cimport import_loader


cdef extern from "driver/{self.prefix}_calls.h" nogil:
    void* const* {self.prefix}_table
{declared}

{bodies}


{self.prefix}_table = import_loader().table("{self.library.name}")
"""

    def extern_line(self, function: Function) -> str:
        params = ", ".join(declare(self.passed_type(p), p.name) for p in function.params)
        return f"{cython_type(function.ret)} call_{function.name}({params})"

    def body(self, function: Function) -> str:
        arguments = ", ".join(
            f"&{p.name}" if self.is_foreign_struct(p) else p.name for p in function.params
        )
        return (
            f"cdef {function_line(self.library, function)}:\n"
            f"    {'' if function.ret == 'void' else 'return '}call_{function.name}({arguments})"
        )

    # --- C -------------------------------------------------------------------------------------

    def header(self) -> str:
        lines = [f"#include <{h}>" for h in self.library.decisions.before]
        lines += map(self.library.include, self.library.facts.headers)
        includes = "".join(f"{line}\n" for line in lines)
        calls = "\n\n".join(self.call(i, f) for i, f in enumerate(self.library.functions))
        return (
            f"/* {self.library.origin} */\n#pragma once\n\n{includes}\n"
            f"static void* const* {self.prefix}_table;\n\n{calls}\n"
        )

    def call(self, slot: int, function: Function) -> str:
        params = ", ".join(
            declare_c(self.in_c(self.passed_type(p)), p.name) for p in function.params
        )
        arguments = ", ".join(self.argument(p) for p in function.params)
        kind = f"__typeof__(&{function.c_name})"
        if "hidden" in function.flags:
            kind = f"{function.ret} (*)({', '.join(p.c_type for p in function.params)})"
        space = "" if function.ret.endswith("*") else " "
        ret = self.in_c(function.ret)
        return (
            f"static inline {ret}{space}call_{function.name}({params or 'void'}) {{\n"
            f"  return (({kind}){self.prefix}_table[{slot}])({arguments});\n}}"
        )

    def argument(self, param: Param) -> str:
        if self.is_foreign_struct(param):
            return f"*({self.in_c(param.c_type)} const*){param.name}"
        passed = self.passed_type(param)
        same = passed.replace(" ", "") == param.c_type.replace(" ", "")
        return param.name if same else f"({self.in_c(param.c_type)}){param.name}"

    def in_c(self, c_type: str) -> str:
        """`cudaExtent` -> `struct cudaExtent`: C requires the word for a type without a typedef."""
        return re.sub(r"\w+", lambda m: f"{self.tags.get(m[0], '')} {m[0]}".lstrip(), c_type)

    def passed_type(self, param: Param) -> str:
        """The type that Cython passes. A type that the .pxd itself declares is a different C type:
        a struct is passed by address, a pointer as `void*`, an enum as int."""
        base, stars = split_type(param.c_type)
        if base in self.foreign:
            if self.is_foreign_struct(param):
                return "const void*"
            if stars:
                return "const void*" if param.c_type.startswith("const ") else "void*"
            if base in self.enums:
                return "int"
        return cython_type(param.c_type)

    def is_foreign_struct(self, param: Param) -> bool:
        base, stars = split_type(param.c_type)
        return not stars and base in self.foreign and base in self.structs


def tag_words(library: Library) -> dict[str, str]:
    """Map each tag without a typedef of the same name to struct, union or enum."""
    words = {}
    for item in library.facts.types:
        if isinstance(item, FactTypedef):
            if item.word == "opaque" and "void" not in item.target:
                words.setdefault(split_type(item.target)[0], "struct")
        elif not item.word.startswith("typedef "):
            words[item.tag] = item.word
    return words


def declare_c(c_type: str, name: str) -> str:
    return f"{c_type} {name}"
