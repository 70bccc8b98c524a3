# SPDX-License-Identifier: Apache-2.0
"""The convention "plain_values": a further face of a library whose functions return a tuple.

Facts and roles are the same as in that library (`classify.py`). Failures, names and values are the
same as in "exceptions": handles, addresses and enumerators are ints, structs are NumPy structs.
"""

from __future__ import annotations

import re

from .. import releases
from ..classify import split_type
from ..decisions import Decisions, FunctionDecision
from ..descriptions import sentence_of
from ..facts import FactFunction, Facts
from ..kinds import Kind
from ..model import Function, Param
from .exceptions import input_kind, output_kind, outputs, outputs_in_words
from .names import class_name, function_name, snake_case

BRACKETED = re.compile(r"(?P<word>[\w ]+)\[(?P<aux>\w+)\]")
# roles whose argument is an address
ADDRESSES = ("ptr", "callback", "callback_data", "iterator", "list", "list5", "address")
# roles that determine the kind
PLAIN = {
    "kernel_params": Kind("in", "kparams"),
    "bytes": Kind("in", "bytes"),
    "text": Kind("in", "optional bytes"),
    "buffer": Kind("in", "buffer"),
    "out buffer": Kind("in", "buffer*"),
    "handle address": Kind("in", "intptr*"),
    "struct address": Kind("in", "nonnull"),
    "attrsize": Kind("in", "attrsize"),
    "count": Kind("none", "count"),
    "queried count": Kind("none", "queried"),
    "out int": Kind("out", "via int"),
    "out pointer": Kind("out", "via address"),
    "out text": Kind("out", "str"),
    "out queried bytes": Kind("out", "queried bytes"),
    "name": Kind("in", "str"),
}
ATTRIBUTES = {
    "attr": ("in", "attr"),
    "out attr": ("out", "attr"),
    "out attrlist": ("out", "attrlist"),
}


# roles with a number in brackets, and roles with a count parameter in brackets
NUMBERED = {
    "out bytes": ("out", "bytes"),
    "out floats": ("out", "floats"),
    "fixed": ("none", "fixed"),
}
COUNTED = {
    "enumerators": ("in", "enumerators"),
    "sizes": ("in", "sizes"),
    "items": ("in", "items"),
    "texts": ("in", "texts"),
    "length": ("none", "list length"),
    "buffer": ("in", "source"),
    "out buffer": ("in", "destination"),
    "out list": ("out", "array"),
    "out queried list": ("out", "queried array"),
    "out callee list": ("out", "callee array"),
    "out callee bytes": ("out", "callee bytes"),
    "out text": ("out", "charbuf"),
}
OF_ELEMENTS = ("items", "array", "queried array", "callee array")


def param_kind(
    role: str, c_type: str, types, fact: FactFunction, structs, decisions: Decisions
) -> Kind:
    """The kind of a parameter. `structs` returns the class of a struct, or None."""
    base, stars = split_type(c_type)
    if role in PLAIN:
        return PLAIN[role]
    if role in ADDRESSES:
        return Kind("in", "intptr")
    if role == "in":
        return input_value_kind(base, stars, c_type, types, structs)
    if role == "inout":
        is_enum = types.kind_of(base) == "enum"
        return Kind("inout", "int") if is_enum else Kind("inout", "number", types.canonical(base))
    if role == "out":
        return output_value_kind(base, stars, types, structs)
    match = BRACKETED.fullmatch(role)
    if not match:
        raise ValueError(f"{fact.name}: unknown role {role!r}")
    if match["word"] in ATTRIBUTES:
        attribute = next(p.c_type for p in fact.params if p.name == match["aux"])
        element = class_name(split_type(attribute)[0], decisions)
        way, shape = ATTRIBUTES[match["word"]]
        return Kind(way, shape, element, match["aux"])
    return bracketed(match["word"], match["aux"], base, types, fact, structs)


def input_value_kind(base: str, stars: int, c_type: str, types, structs) -> Kind:
    is_struct = types.kind_of(base) == "struct"
    numpy_struct = structs(base) if is_struct else None
    if numpy_struct:
        return Kind("in", "data" if stars else "object", numpy_struct)
    if is_struct:
        return Kind("in", "intptr" if stars else "nonnull")
    if base in ("char", "void") and stars == 1 and c_type.startswith("const "):
        return Kind("in", "buffer")
    return Kind("in", "intptr") if base == "char" else input_kind(base, stars, c_type, types)


def output_value_kind(base: str, stars: int, types, structs) -> Kind:
    if types.kind_of(base) == "struct" and stars == 1:
        numpy_struct = structs(base)
        return Kind("out", "data", numpy_struct) if numpy_struct else Kind("in", "intptr")
    if base == "char" and stars == 2:
        return Kind("out", "c bytes")
    return output_kind(base, stars, types)


def bracketed(word: str, aux: str, base: str, types, fact: FactFunction, structs) -> Kind:
    """The kind of a role with a parameter or a number in brackets."""
    numpy_struct = structs(base) if types.kind_of(base) == "struct" else None
    if word == "list" and numpy_struct:
        return Kind("in", "data list", numpy_struct, aux)
    if word == "list":
        is_handle = types.kind_of(base) == "handle"
        return Kind("in", "handles", aux=aux) if is_handle else Kind("in", "intptr")
    if word == "attrlist":
        return Kind("in", "intptr")
    if word in NUMBERED:
        way, shape = NUMBERED[word]
        return Kind(way, shape, aux)
    if word in COUNTED:
        way, shape = COUNTED[word]
        if shape not in OF_ELEMENTS:
            return Kind(way, shape, aux=aux)
        is_handle = types.kind_of(base) == "handle"
        return Kind(way, shape, numpy_struct or ("intptr_t" if is_handle else base), aux)
    raise ValueError(f"{fact.name}: unknown role {word!r}")


def make_function(
    fact: FactFunction, types, structs, decisions: Decisions, decided: FunctionDecision
) -> Function:
    """Create a function; `resolve_function` sets the properties common to all conventions."""
    params = [param(fact, p, types, structs, decisions, decided) for p in fact.params]
    function = Function(fact.name, fact.c_name, fact.ret, params, fact.header, fact.since)
    function.flags = fact.flags
    function.version = releases.number(fact.since)
    function.python_name = decided.name or function_name(fact.c_name, decisions)
    function.py = [argument(p) for p in params if p.kind.is_argument]
    function.returns = outputs(params, fact.ret, decisions)
    if decided.code_is_result:
        function.returns, function.returns_code = ["result"], False
    function.sentence = sentence_of(function)
    function.returned, function.own_doc = outputs_in_words(function), decided.doc
    counts = {p.c_name for p in params if p.kind.is_a("none", "count")}
    if any(p.kind.is_a("out", "array") and p.aux in counts for p in params):
        function.body = "counted_call"
    if decided.size_function:
        function.body, function.size_function = "queried_call", decided.size_function
    return function


def param(fact, p, types, structs, decisions: Decisions, decided: FunctionDecision) -> Param:
    role = decided.roles.get(p.name, p.kind)
    kind = param_kind(role, p.c_type, types, fact, structs, decisions)
    name = decisions.rename.get(p.name) or snake_case(p.name)
    return Param(name, p.name, p.c_type, kind)


def copy_call_properties(function: Function, other: Function) -> None:
    """Copy the call properties of a C function, which are the same in all faces."""
    function.releases_gil, function.is_brief = other.releases_gil, other.is_brief
    function.is_submission, function.calls_back = other.is_submission, other.calls_back
    function.is_gated, function.is_hot = other.is_gated, other.is_hot
    function.older = other.older


def argument(p: Param) -> str:
    return f"{p.name}=None" if p.kind.shape == "texts" else p.name


def variants(functions: list[Function], facts: Facts, make, decisions: Decisions) -> list[Function]:
    """Further Python functions for C functions, with other parameters."""
    further = []
    by_name = {f.name: f for f in functions}
    for name, decided in decisions.functions.items():
        if not decided.variant_of:
            continue
        fact = next(f for f in facts.functions if f.name == decided.variant_of)
        function = make(fact, decided)
        like = by_name[decided.variant_of]
        function.python_name = name
        function.signature = like.signature
        copy_call_properties(function, like)
        further.append(function)
    return further


def attribute_tables(
    tables: dict[str, dict[str, Kind]], types, structs, decisions: Decisions
) -> dict[str, dict[str, Kind]]:
    """The attribute tables with plain values, by the Python names of the enumerations."""
    return {
        class_name(enum, decisions): {
            member: plain_value(kind, types, structs) for member, kind in rows.items()
        }
        for enum, rows in tables.items()
    }


def plain_value(kind: Kind, types, structs) -> Kind:
    """`handle:driver.CUcontext` -> `address`, `struct:driver.CUuuid` -> `data:Uuid_v1`."""
    name = kind.element.rpartition(".")[2]
    if kind.shape == "handle":
        is_pointer = "*" in types.canonical(name)
        return Kind("value", "plain", "address" if is_pointer else "unsigned long long")
    if kind.shape == "enum":
        return Kind("value", "plain", "int")
    return Kind("value", "data", structs(name)) if kind.shape == "struct" else kind
