# SPDX-License-Identifier: Apache-2.0
"""The convention "exceptions": functions that return their outputs alone and raise on failure.

Handles, addresses and enumerators are plain ints, names are in snake case. README.md lists the
words for kinds of parameters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..classify import split_type
from ..decisions import Decisions, EnumNames, FunctionDecision
from ..descriptions import sentence_of
from ..facts import FactFunction
from ..kinds import Kind
from ..model import Enum, Function, Param
from .names import class_name, enum_members, error_name, function_name, snake_case

ROLE = re.compile(r"(?P<word>list|buffer|out buffer|out text|length)(?:\[(?P<aux>\w+)\])?")
INTEGERS = ("handle", "callback", "unknown")  # kinds of types that are addresses in Python


def make_function(
    fact: FactFunction, types, decisions: Decisions, decided: FunctionDecision
) -> Function:
    """Create a function; `resolve_function` sets the properties common to all conventions."""
    name = decided.name or function_name(fact.name, decisions)
    params = [param(fact, p, types, decisions, decided) for p in fact.params]
    params = [fixed_length(p, params) for p in params]
    function = Function(fact.name, fact.c_name, fact.ret, params, fact.header, fact.since)
    function.python_name = name
    function.py = [p.name for p in params if p.kind.is_argument]
    function.returns = outputs(params, fact.ret, decisions)
    function.sentence = sentence_of(function)
    function.returned, function.own_doc = outputs_in_words(function), decided.doc
    return function


def outputs(params: list[Param], ret: str, decisions: Decisions) -> list[str]:
    """Names of the outputs, after the return value unless that is the code."""
    names = [p.name for p in params if p.kind.is_returned]
    return names if ret in (decisions.result_type, "void") else ["result", *names]


def outputs_in_words(function: Function) -> str:
    """The words for the outputs in the documentation."""
    names = ", ".join(function.returns) or "None"
    return f"({names})" if len(function.returns) > 1 else names


def param(fact, p, types, decisions: Decisions, decided: FunctionDecision) -> Param:
    role = decided.roles.get(p.name, p.kind)
    kind = param_kind(role, p.c_type, types, fact, decisions)
    name = decisions.rename.get(p.name) or snake_case(p.name)
    return Param(name, p.name, p.c_type, kind)


def fixed_length(p: Param, params: list[Param]) -> Param:
    """Make the length parameter of a fixed-size text a constant."""
    texts = (t.kind for t in params if t.kind.is_a("out", "fixed str") and t.aux == p.c_name)
    text = next(texts, None)
    return replace(p, kind=Kind("none", "fixed", text.element)) if text else p


def param_kind(role: str, c_type: str, types, fact: FactFunction, decisions: Decisions) -> Kind:
    base, stars = split_type(c_type)
    if role == "in":
        if base in decisions.refuses_null.get("handles", ()) and not stars:
            return Kind("in", "nonnull")
        return input_kind(base, stars, c_type, types)
    if role == "ptr":
        return Kind("in", "intptr*")
    if role == "address":
        return Kind("in", "intptr")
    if role == "out":
        return output_kind(base, stars, types)
    match = ROLE.fullmatch(role)
    if not match:
        raise ValueError(f"{fact.name}: unknown role {role!r}")
    if match["word"] == "out text":
        return Kind("out", "fixed str", str(decisions.function(fact.name).text_size), match["aux"])
    shapes = {"list": "options", "buffer": "buffer", "out buffer": "buffer*"}
    return Kind("in", shapes[match["word"]], aux=match["aux"] or "")


def input_kind(base: str, stars: int, c_type: str, types) -> Kind:
    kind = types.kind_of(base)
    if base == "char" and stars == 1:
        return Kind("in", "str")
    if stars or "(" in c_type or kind in INTEGERS:
        return Kind("in", "intptr")
    if kind == "struct":
        return Kind("in", "struct", base)
    return Kind("in", "int" if kind == "enum" else "number")


def output_kind(base: str, stars: int, types) -> Kind:
    kind = types.kind_of(base)
    if base == "char" and stars == 2:
        return Kind("out", "str")
    if stars == 2 or base == "void" or kind in INTEGERS:
        return Kind("out", "intptr")
    if kind == "struct":
        return Kind("out", "object", base)
    return Kind("out", "int" if kind == "enum" else "number")


def find_size_functions(functions: list[Function], decisions: Decisions) -> None:
    """Set size functions: `GetLogSize(handle, size)` belongs to `GetLog(handle, buffer)`."""
    sizes = {f.name: f for f in functions}
    for function in functions:
        stem = function.name.removeprefix(decisions.prefixes[0])
        names = (f"{function.name}Size", decisions.prefixes[0] + stem.replace("Get", "") + "Size")
        size_function = next((sizes[n] for n in names if n in sizes), None)
        if (
            size_function
            and size_function is not function
            and is_size_function(size_function, function)
        ):
            function.size_function = size_function.name


def is_size_function(sizes: Function, function: Function) -> bool:
    """Whether `sizes` has the same parameters except the buffer, and returns one number."""
    c_types = [p.c_type for p in function.params if not p.kind.is_a("in", "buffer*")]
    size_types = [p.c_type for p in sizes.params]
    has_buffer = len(c_types) == len(function.params) - 1 and not any(
        p.aux for p in function.params
    )
    return has_buffer and size_types == [*c_types, "size_t *"]


def classes(enums: list[Enum], decisions: Decisions) -> dict[str, str]:
    """Map each exception class for a single code to the C name of the code."""
    chosen = decisions.exceptions
    if not decisions.exception_per_code:
        return chosen
    codes = next(e.members for e in enums if e.c_name == decisions.result_enum)
    named = {m.c_name: error_name(m.name) for m in codes if m.value}
    named |= {code: name for name, code in chosen.items()}
    return {name: code for code, name in named.items()}


def named_enums(enums: list[Enum], types, decisions: Decisions) -> list[Enum]:
    """The enumerations with their Python names."""
    return [
        Enum(
            class_name(e.name, decisions),
            e.name,
            enum_members(
                types.enum_tags[e.c_name],
                decisions.enum_names.get(e.name, EnumNames()),
                {m.name: m.doc for m in e.members},
                bool(decisions.face_of),
            ),
            e.header,
        )
        for e in enums
    ]
