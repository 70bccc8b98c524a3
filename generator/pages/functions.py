# SPDX-License-Identifier: Apache-2.0
"""The page of a module's functions: signature, result, C function, release, interpreter lock."""

from __future__ import annotations

from ..emit.stubs import writer_of
from ..model import Function, Library
from .text import directive, escaped, head, plain_type


def functions_page(library: Library) -> str:
    writer = writer_of(library)
    found = sorted((f for f in library.functions if f.in_python), key=name_of)
    return "\n".join([head(library, "functions"), *(entry(writer, f) for f in found)])


def name_of(function: Function) -> str:
    return function.python_name or function.name


def entry(writer, function: Function) -> str:
    *variants, plain = writer.signatures(function)
    lines = [escaped(function.doc), ""]
    lines += [f"Also ``{plain_type(variant)}``.\n" for variant in variants]
    if not function.releases_gil:
        lines += ["Keeps the interpreter lock: it returns at once."]
    if function.is_brief:
        lines += ["Gives the interpreter lock back only where another thread could take it."]
    return directive("function", f"{name_of(function)}{plain_type(plain)}", lines)
