# SPDX-License-Identifier: Apache-2.0
"""The pages of a module's classes: handles and structs with their fields; enumerations."""

from __future__ import annotations

from ..emit.stubs import writer_of
from ..model import Enum, Library, NumpyStruct, Struct
from .text import directive, escaped, paged, plain_type


def types_pages(library: Library) -> list[str]:
    writer = writer_of(library)
    handles = [directive("class", f"{h.name}(init_value=0)", []) for h in library.handles]
    structs = [struct_entry(writer, s) for s in library.structs if not s.view_only]
    arrays = [numpy_struct_entry(writer, t) for t in library.numpy_structs if t.dtype]
    exceptions, exception = [], library.decisions.exception
    if exception:
        names = [exception, *library.exceptions]
        exceptions = [directive("exception", name, []) for name in names]
    constants = [f"- ``{c.name}`` = {c.value}" for c in library.constants]
    sections = {
        "Handles": handles,
        "Structs": structs,
        "Structs and arrays of them": arrays,
        "Exceptions": exceptions,
        "Constants": ["\n".join(constants) + "\n"] if constants else [],
    }
    filled = [(name, entries) for name, entries in sections.items() if entries]
    return paged(library, "types and constants", filled) if filled else []


def struct_entry(writer, struct: Struct) -> str:
    if struct.base:
        return directive("class", struct.name, [f"A ``{struct.base}``."])
    lines = []
    for field in struct.fields:
        gives = plain_type(writer.field_types(field)[0])
        lines.append(f"- ``{field.name}``: ``{gives}``{'' if field.is_settable else ', read-only'}")
    return directive("class", struct.name, lines)


def numpy_struct_entry(writer, numpy_struct: NumpyStruct) -> str:
    shown = [f for f in numpy_struct.fields if not f.is_hidden]
    lines = [f"- ``{f.name}``: ``{plain_type(writer.field_type(numpy_struct, f))}``" for f in shown]
    signature = f"{numpy_struct.name}(size=1)" if numpy_struct.is_array else numpy_struct.name
    return directive("class", signature, [*lines, "", f"NumPy type: ``{numpy_struct.dtype}``."])


def enums_pages(library: Library) -> list[str]:
    entries = [enum_entry(e) for e in library.enums]
    return paged(library, "enumerations", [("", entries)]) if entries else []


def enum_entry(enum: Enum) -> str:
    lines = []
    for member in enum.members:
        explained = f": {escaped(' '.join(member.doc.split()))}" if member.doc else ""
        lines.append(f"- ``{member.name}`` = {member.value}{explained}")
    return directive("class", enum.name, lines)
