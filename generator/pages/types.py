# SPDX-License-Identifier: Apache-2.0
"""The pages of a module's classes: handles and structs with their fields; enumerations."""

from __future__ import annotations

from ..emit.stubs import writer_of
from ..model import Enum, Library, NumpyStruct, Struct
from .text import directive, escaped, head, plain_type, title


def types_page(library: Library) -> str:
    writer = writer_of(library)
    parts = []
    if library.handles:
        names = [h.name for h in library.handles]
        entries = [directive("class", f"{name}(init_value=0)", []) for name in names]
        parts += [title("Handles"), *entries]
    structs = [s for s in library.structs if not s.view_only]
    if structs:
        parts += [title("Structs"), *(struct_entry(writer, s) for s in structs)]
    numpy_structs = [t for t in library.numpy_structs if t.dtype]
    if numpy_structs:
        entries = [numpy_struct_entry(writer, t) for t in numpy_structs]
        parts += [title("Structs and arrays of them"), *entries]
    if library.decisions.exception:
        names = [library.decisions.exception, *library.exceptions]
        parts += [title("Exceptions"), *(directive("exception", name, []) for name in names)]
    if library.constants:
        lines = [f"- ``{c.name}`` = {c.value}" for c in library.constants]
        parts += [title("Constants"), "\n".join(lines) + "\n"]
    return "\n".join([head(library, "types and constants"), *parts]) if parts else ""


def struct_entry(writer, struct: Struct) -> str:
    if struct.base:
        return directive("class", struct.name, [f"A ``{struct.base}``."])
    lines = []
    for field in struct.fields:
        gives = plain_type(writer.field_types(field)[0])
        lines.append(f"- ``{field.name}``: ``{gives}``{', read-only' if field.readonly else ''}")
    return directive("class", struct.name, lines)


def numpy_struct_entry(writer, numpy_struct: NumpyStruct) -> str:
    shown = [f for f in numpy_struct.fields if not f.is_hidden]
    lines = [f"- ``{f.name}``: ``{plain_type(writer.field_type(numpy_struct, f))}``" for f in shown]
    signature = f"{numpy_struct.name}(size=1)" if numpy_struct.is_array else numpy_struct.name
    return directive("class", signature, [*lines, "", f"NumPy type: ``{numpy_struct.dtype}``."])


def enums_page(library: Library) -> str:
    if not library.enums:
        return ""
    entries = [enum_entry(e) for e in library.enums]
    return "\n".join([head(library, "enumerations"), *entries])


def enum_entry(enum: Enum) -> str:
    lines = []
    for member in enum.members:
        explained = f": {escaped(' '.join(member.doc.split()))}" if member.doc else ""
        lines.append(f"- ``{member.name}`` = {member.value}{explained}")
    return directive("class", enum.name, lines)
