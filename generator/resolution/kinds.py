# SPDX-License-Identifier: Apache-2.0
"""Role + C type -> kind: the words that emitters see of a parameter (listed in README.md)."""

from __future__ import annotations

import re

from ..classify import split_type
from ..facts import FactFunction
from .type_table import TypeTable

ROLE = re.compile(r"(?P<way>in|out)? ?(?P<word>[\w ]*?)(?:\[(?P<aux>\w*)\])?")
SPECIAL = {
    "kernel_params": "in:kparams",
    "address": "in:rawptr",
    "callback": "in:callback",
    "callback_data": "in:callback_data",
    "attrsize": "in:attrsize",
    "count": "inout:count",
}


def param_kind(role: str, c_type: str, types: TypeTable, function: FactFunction) -> tuple[str, str]:
    """The kind word of the model, and the parameter that it depends on (count or attribute)."""
    base, stars = types.opaque.get(split_type(c_type)) or split_type(c_type)
    if role in SPECIAL:
        return SPECIAL[role], ""
    if role == "in":
        return input_kind(base, stars, c_type, types), ""
    if role == "out":
        return output_kind(base, stars, types), ""
    if role == "inout":
        return f"inout:enum:{base}" if types.kind_of(base) == "enum" else f"inout:{base}", ""
    if role in ("ptr", "iterator", "list5", "list"):
        return f"{'inout' if role == 'iterator' else 'in'}:{role}:{base}", ""
    return bracketed_kind(role, base, stars, function)


def input_kind(base: str, stars: int, c_type: str, types: TypeTable) -> str:
    kind = types.kind_of(base)
    if "(" in c_type or base == "void" or (kind == "unknown" and stars):
        return "in:voidp"
    if base == "char" and stars:
        return "in:bytes"
    if kind == "struct":
        return f"in:struct*:{base}" if stars else f"in:struct:{base}"
    if stars:
        return f"in:ptr:{base}"
    words = {
        "enum": f"in:enum:{base}",
        "handle": f"in:handle:{base}",
        "callback": f"in:handle:{base}",
    }
    return words.get(kind, "in")


def output_kind(base: str, stars: int, types: TypeTable) -> str:
    if base in ("void", "char"):
        return "out:voidp" if base == "void" else "out:cstr"
    kind = types.kind_of(base)
    return f"out:enum:{base}" if kind == "enum" else "out" if kind == "scalar" else f"out:{base}"


def bracketed_kind(role: str, base: str, stars: int, function: FactFunction) -> tuple[str, str]:
    """Roles with a parameter in brackets, and the explicit ones that overrides use."""
    match = ROLE.fullmatch(role)
    if not match:
        raise ValueError(f"{function.name}: role {role!r} is not understood")
    way, word, aux = match["way"] or "in", match["word"], match["aux"]
    names = {p.name: p for p in function.params}
    element = {"void": "voidp", "char": "bytes"}.get(base, base)
    if word == "list":
        return (f"in:list:{element}", aux) if way == "in" else (f"out:list:{element}[{aux}]", aux)
    if word == "callee list":
        return f"out:list(callee):{base}", aux
    if word in ("attr", "attrlist"):
        return f"{way}:{word}:{split_type(names[aux].c_type)[0]}", aux
    if word == "text":
        return "out:charbuf:length", aux
    if word == "bytes":
        return f"out:bytes[{aux}]", ""
    explicit = {
        "address": "out:int(via void*)",
        "pointer": "out:void_ptr(via void*)",
        "vector": "out:list:vector",
        "float": "in:float*",
    }
    return explicit.get(word, f"{way}:{word}"), ""
