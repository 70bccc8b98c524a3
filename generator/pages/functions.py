# SPDX-License-Identifier: Apache-2.0
"""The pages of a module's functions, by theme: signature, result, release, GIL."""

from __future__ import annotations

from pathlib import Path

from ..descriptions import phrases_of
from ..emit.stubs import writer_of
from ..model import Function, Library
from .text import directive, escaped, paged, plain_type
from .themes import WITH_A_PAGE_FOR_EACH, by_theme, page_of


def functions_pages(library: Library, headers: Path | None = None) -> list[str]:
    """The pages, with a section for each theme if the headers define themes."""
    writer = writer_of(library)
    themes = by_theme((f for f in library.functions if f.in_python), headers)
    sections = []
    for (group, name), functions in themes.items():
        entries = [entry(writer, function) for function in sorted(functions, key=name_of)]
        if group and library.module in WITH_A_PAGE_FOR_EACH:
            manual = f"`{name} in NVIDIA's manual <{page_of(library.module, group)}>`__.\n"
            entries.insert(0, manual)
        sections.append((name if len(themes) > 1 else "", entries))
    return paged(library, "functions", sections)


def name_of(function: Function) -> str:
    return function.python_name or function.name


def origin_of(function: Function) -> str:
    """The C function, and the first release that has it."""
    kind = "Inline" if "inline" in function.flags else "C"
    since = f", CUDA {function.since} or newer" if function.since else ""
    return f"{kind} function ``{function.c_name}`` of ``{function.header}``{since}."


def entry(writer, function: Function) -> str:
    *variants, plain = writer.signatures(function)
    lines = [escaped(function.doc), "", origin_of(function), ""]
    lines += [f":param {name}: {text}" for name, text in phrases_of(function).items()]
    lines += [""]
    lines += [f"Also ``{plain_type(variant)}``.\n" for variant in variants]
    if not function.releases_gil:
        lines += ["Keeps the GIL: it returns at once."]
    if function.is_brief:
        lines += ["Releases the GIL only if another thread could acquire it."]
    if function.is_submission:
        lines += ["Releases the GIL if another thread could need it."]
    return directive("function", f"{name_of(function)}{plain_type(plain)}", lines)
