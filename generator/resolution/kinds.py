# SPDX-License-Identifier: Apache-2.0
"""Maps role and C type to a kind, for functions that return a tuple."""

from __future__ import annotations

import re

from ..classify import split_type
from ..facts import FactFunction
from ..kinds import ROLES, Kind
from .type_table import TypeTable

ROLE = re.compile(r"(?P<way>in|out)? ?(?P<word>[\w ]*?)(?:\[(?P<aux>\w*)\])?")


def param_kind(role: str, c_type: str, types: TypeTable, function: FactFunction) -> Kind:
    base, stars = types.opaque.get(split_type(c_type)) or split_type(c_type)
    if role in ROLES:
        return ROLES[role]
    if role == "in":
        return input_kind(base, stars, c_type, types)
    if role == "out":
        return output_kind(base, types)
    if role == "inout":
        return Kind("inout", "enum" if types.kind_of(base) == "enum" else "number", base)
    if role in ("ptr", "iterator", "list5", "list"):
        return Kind("inout" if role == "iterator" else "in", role, base)
    return bracketed_kind(role, base, function)


def input_kind(base: str, stars: int, c_type: str, types: TypeTable) -> Kind:
    kind = types.kind_of(base)
    if "(" in c_type or base == "void" or (kind == "unknown" and stars):
        return Kind("in", "voidp")
    if base == "char" and stars:
        return Kind("in", "bytes")
    if kind == "struct":
        return Kind("in", "struct*" if stars else "struct", base)
    if stars:
        return Kind("in", "ptr", base)
    shape = {"enum": "enum", "handle": "handle", "callback": "handle"}.get(kind)
    return Kind("in", shape, base) if shape else Kind("in")


def output_kind(base: str, types: TypeTable) -> Kind:
    if base in ("void", "char"):
        return Kind("out", "voidp" if base == "void" else "cstr")
    kind = types.kind_of(base)
    if kind == "scalar":
        return Kind("out")
    return Kind("out", "enum" if kind == "enum" else "object", base)


def bracketed_kind(role: str, base: str, function: FactFunction) -> Kind:
    """The kind of a role with a parameter in brackets, or of a class that an override names."""
    match = ROLE.fullmatch(role)
    if not match:
        raise ValueError(f"{function.name}: unknown role {role!r}")
    way, word, aux = match["way"] or "in", match["word"], match["aux"] or ""
    if word == "list":
        return Kind(way, "list", {"void": "voidp", "char": "bytes"}.get(base, base), aux)
    if word == "callee list":
        return Kind("out", "callee list", base, aux)
    if word in ("attr", "attrlist"):
        attribute = next(p.c_type for p in function.params if p.name == aux)
        return Kind(way, word, split_type(attribute)[0], aux)
    if word == "text":
        return Kind("out", "charbuf", aux=aux)
    if word == "bytes":
        return Kind("out", "bytes", aux)
    return Kind(way, "object", word)
