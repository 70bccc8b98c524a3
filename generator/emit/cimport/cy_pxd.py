# SPDX-License-Identifier: Apache-2.0
"""Writes `cy<library>.pxd`: the C API for cimport, including the types of the headers."""

from __future__ import annotations

from itertools import groupby

from ...classify import FIXED_WIDTH, split_type
from ...facts import FactEnum, FactRecord, FactTypedef
from ...model import Function, Library
from ...resolution.cython_text import cython_type, declare, declare_callback
from . import c_headers

INDENT = "    "
OPTIONAL = """\
#if __has_include(<{header}>)
#include <{header}>
#endif
"""


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {f"{lib.folder}/cy{name}.pxd": declarations(lib) for name, lib in libraries.items()}


def declarations(library: Library) -> str:
    types = [
        type_group(library, header, list(items))
        for (header, _), items in groupby(library.facts.types, key=origin_of)
    ]
    functions = "".join(f"cdef {function_line(library, f)}\n" for f in library.functions)
    parts = [head(library), *own_declarations(library), *types, *constant_groups(library)]
    return "\n\n".join([*parts, functions])


def origin_of(item: FactRecord | FactEnum | FactTypedef) -> tuple[str, bool]:
    """The header, and whether a macro names the type: the .pxd itself declares such types."""
    return item.header, getattr(item, "word", "") == "define"


def head(library: Library) -> str:
    return (
        f"# {library.origin}\n"
        f'"""The {library.name} API for cimport, under the names that a C program uses.\n\n'
        f"The types of {', '.join(library.facts.headers)}; a function for each of theirs.\n"
        '"""\n\n'
        f"from libc.stdint cimport {', '.join(FIXED_WIDTH)}"
        + "".join(f"\n{line}" for line in library.decisions.cimports)
    )


def own_declarations(library: Library) -> list[str]:
    """The C declarations themselves, so that a client needs no header of the library."""
    if not library.decisions.declares_itself:
        return []
    # omit the indentation: saves 30 kB in the installed files
    lines = "".join(f"{line.lstrip()}\n" for line in c_headers.verbatim(library).splitlines())
    return [f'cdef extern from * nogil:\n{INDENT}"""\n{lines}{INDENT}"""']


def type_group(library: Library, header: str, items: list) -> str:
    """The types of one header: inside `extern`, or outside if clients expect that."""
    lines = opaque_records(library, items)
    for item in items:
        lines += type_lines(library, item)
    is_macros = all(getattr(i, "word", "") == "define" for i in items)
    return in_scope(library, header, lines, nested_names(items), is_macros)


def nested_names(items: list) -> str:
    """Typedefs of nested structs: C++ declares them in their scope, C by their tag."""
    nested = [i for i in items if isinstance(i, FactRecord) and i.scope]
    if not nested:
        return ""
    with_scope = "".join(f"typedef {i.scope}::{i.tag} {i.tag};\n" for i in nested)
    with_tag = "".join(f"typedef {i.word} {i.tag} {i.tag};\n" for i in nested)
    return f"#ifdef __cplusplus\n{with_scope}#else\n{with_tag}#endif\n"


def in_scope(
    library: Library, header: str, lines: list[str], verbatim: str = "", is_macros: bool = False
) -> str:
    """The declarations of one header. `verbatim` is C code for every client, after the header."""
    if header in library.decisions.module_scope or is_macros:
        return "\n".join(f"cdef {line}" if is_definition(line) else line for line in lines)
    source = (
        "*"
        if library.decisions.declares_itself
        else f'"{library.decisions.included_by.get(header, header)}"'
    )
    if header in library.decisions.optional_headers:
        source, verbatim = "*", OPTIONAL.format(header=header) + verbatim
    if verbatim:
        lines = ['"""', *verbatim.splitlines(), '"""', *lines]
    inner = "\n".join(INDENT + line for line in lines)
    return f"cdef extern from {source} nogil:\n{inner}"


def is_definition(line: str) -> bool:
    return line.startswith(("struct ", "union ", "enum ", "enum:"))


def opaque_records(library: Library, items: list) -> list[str]:
    """Incomplete structs that the handles of a header point to."""
    defined = {i.tag for i in library.facts.types if isinstance(i, FactRecord)}
    targets = [
        split_type(i.target)[0] for i in items if isinstance(i, FactTypedef) and i.word == "opaque"
    ]
    cimported = " ".join(library.decisions.cimports)
    targets += [name for name in library.decisions.foreign_structs if name not in cimported]
    lines = []
    for name in dict.fromkeys(targets):
        if name != "void" and name not in defined:
            # without a body: the only form that is valid outside `extern` too
            lines.append(f"struct {name}")
    return lines


def type_lines(library: Library, item: FactRecord | FactEnum | FactTypedef) -> list[str]:
    if isinstance(item, FactEnum):
        is_extern = item.header not in library.decisions.module_scope
        members = [
            f"{INDENT}{name}" if is_extern else f"{INDENT}{name} = {value}"  # the header has it
            for name, value in item.members
        ]
        if library.decisions.not_found_value is not None and item.tag == library.result_tag:
            members.append(f'{INDENT}{library.decisions.not_found} "{library.not_found_c}"')
        return [f"{'c' if item.word != 'enum' else ''}{item.word} {item.tag}:", *members]
    if isinstance(item, FactRecord):
        return record_lines(item)
    if item.name in library.decisions.stored_as:
        return [f"ctypedef {library.decisions.stored_as[item.name]} {item.name}"]
    if item.word == "callback":
        return [f"ctypedef {declare_callback(item.name, item.target)}"]
    return [f"ctypedef {cython_type(item.target)} {item.name}"]


def record_lines(record: FactRecord) -> list[str]:
    """The lines of a record, after its anonymous members: Cython requires names for types."""
    lines, members = [], []
    collect(record, lines, members)
    word = record.word
    if record.word.startswith("typedef"):
        word = f"c{record.word}"
    elif record.scope:
        word = f"ctypedef {record.word}"
    return [*lines, f"{word} {record.tag}:", *(INDENT + m for m in members or ["pass"])]


def collect(record: FactRecord, lines: list[str], members: list[str]) -> None:
    for member in record.fields:
        if member.record is None:
            members.append(declare(member.c_type, member.name))
        elif member.name:
            lines += record_lines(member.record)
            members.append(f"{member.record.tag} {member.name}{member.c_type}")
        else:
            collect(member.record, lines, members)


def constant_groups(library: Library) -> list[str]:
    groups = groupby(library.constants, key=lambda c: c.header)
    return [
        in_scope(library, header, constant_lines(library, list(items))) for header, items in groups
    ]


def constant_lines(library: Library, constants: list) -> list[str]:
    """The lines of constants. A macro with a cast to a handle has its type; others are integers."""
    plain = [c for c in constants if not c.c_type]
    lines = [f"{cython_type(c.c_type)} {c.name}" for c in constants if c.c_type]
    if plain:
        values = "" if plain[0].header not in library.decisions.module_scope else " = {}"
        lines += ["enum:", *(INDENT + c.name + values.format(c.value) for c in plain)]
    return lines


def function_line(library: Library, function: Function) -> str:
    """`CUresult cuInit(unsigned int Flags) except ?CUDA_ERROR_NOT_FOUND nogil`"""
    spelled = (cython_type(p.c_type) for p in function.params)
    if library.decisions.const_parameters:
        spelled = (f"{t} const" if t.endswith("*") else f"const {t}" for t in spelled)
    params = ", ".join(f"{t} {p.name}" for t, p in zip(spelled, function.params, strict=True))
    clause = exception_clause(library, function.ret)
    return f"{cython_type(function.ret)} {function.name}({params}) {clause} nogil"


def exception_clause(library: Library, ret: str) -> str:
    """The exception clause, which reports a missing library or function."""
    is_status = ret == library.decisions.result_type != library.decisions.result_enum
    if ret == "void" or is_status or ret in {s.name for s in library.structs}:
        return "except *"
    if ret == library.decisions.result_enum:
        return f"except ?{library.decisions.not_found}"
    return "except ?NULL" if ret.endswith("*") else "except ?-1"
