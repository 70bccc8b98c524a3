# SPDX-License-Identifier: Apache-2.0
"""Facts + decisions -> the model: classes, kinds, Python signatures, capsule strings."""

from __future__ import annotations

import re

from .. import releases
from ..decisions import Decisions, FunctionDecision
from ..descriptions import sentence_of
from ..facts import FactConstant, FactFunction, Facts
from ..model import Enum, Function, Library, Param
from . import exceptions, plain_values
from .exceptions import named_enums
from .kinds import param_kind
from .macro_enums import macro_enums
from .numpy_calls import NumpyCalls
from .numpy_structs import numpy_structs
from .sharing import attribute_tables, share_docs
from .signatures import capsule_signature
from .type_table import TypeTable


def resolve(facts: Facts, decisions: Decisions, uses: dict[str, Library] | None = None) -> Library:
    if unknown := decisions.named_functions - {f.name for f in facts.functions}:
        raise ValueError(f"{decisions.library}: no such function: {', '.join(sorted(unknown))}")
    types = TypeTable(facts, decisions)
    share_docs(decisions, types.enums, uses or {})
    raises = decisions.convention != "status_codes"
    builder = numpy_structs(facts, types, decisions) if raises else None
    make = maker_of(decisions, types, builder)
    functions = [resolve_function(f, make, types, decisions) for f in facts.functions]
    if decisions.convention == "exceptions":
        calls = NumpyCalls(builder.structs, builder.class_of, decisions)
        for function, fact in zip(functions, facts.functions, strict=True):
            calls.apply(function, fact)
    if decisions.face_of:
        for function, other in zip(functions, uses[decisions.face_of].functions, strict=True):
            plain_values.copy_call_properties(function, other)
        functions += plain_values.variants(functions, facts, make, decisions)
    if raises:
        exceptions.find_size_functions(functions, decisions)
    enums = all_enums(facts, types, decisions) if raises else types.enums
    tables = attribute_tables(decisions, types.enums, uses or {})
    if decisions.convention == "plain_values":
        tables = plain_values.attribute_tables(tables, types, builder.class_of, decisions)
    return Library(
        facts,
        decisions,
        functions,
        enums=enums,
        handles=[] if raises else types.handles,
        structs=[] if raises else types.structs,
        typedefs=types.typedefs,
        constants=facts.constants,
        offered=offered_constants(facts, decisions),
        attributes=tables,
        numpy_structs=builder.structs if builder else [],
        exceptions=exceptions.classes(enums, decisions) if raises else {},
        uses=uses or {},
    )


def offered_constants(facts: Facts, decisions: Decisions) -> list[FactConstant]:
    """The constants of the module: all of the headers, or the chosen ones."""
    if decisions.constants is None:
        return facts.constants
    values = {c.name: c for c in facts.constants}
    return [
        FactConstant(name, values[macro].value, values[macro].header)
        for name, macro in decisions.constants.items()
    ]


def all_enums(facts: Facts, types: TypeTable, decisions: Decisions) -> list[Enum]:
    """The enumerations of a library that raises, including enumerations of macros."""
    named = named_enums(types.enums, types, decisions)
    offered = [e for e in named if e.name not in decisions.hidden_enums]
    return offered + macro_enums(facts, decisions)


def maker_of(decisions: Decisions, types: TypeTable, structs):
    """The function that creates functions of a convention from facts and a decision."""
    if decisions.convention == "plain_values":
        return lambda fact, decided: plain_values.make_function(
            fact, types, structs.class_of, decisions, decided
        )
    make = exceptions.make_function if decisions.convention == "exceptions" else make_function
    return lambda fact, decided: make(fact, types, decisions, decided)


def resolve_function(fact: FactFunction, make, types: TypeTable, decisions: Decisions) -> Function:
    decided = decisions.function(fact.name)
    if unknown := decided.named_parameters - {p.name for p in fact.params}:
        raise ValueError(f"{fact.name}: no such parameter: {', '.join(sorted(unknown))}")
    function = make(fact, decided)
    function.signature = capsule_signature(fact, types, decisions)
    function.releases_gil = decided.gil == "release"
    function.is_brief = bool(re.fullmatch(decisions.brief, fact.name))
    function.is_submission = bool(re.fullmatch(decisions.submits, fact.name))
    function.calls_back = bool(re.fullmatch(decisions.calls_back, fact.name))
    function.is_gated = function.releases_gil and bool(re.fullmatch(decisions.gated, fact.name))
    function.older = older_variant(function, decided)
    function.is_hot = decided.hot or bool(re.fullmatch(decisions.hot, fact.name))
    is_lookup = decided.needs == "context" and re.fullmatch(decisions.lookups, fact.name)
    function.needs = "driver" if is_lookup else decided.needs
    function.is_release = bool(re.fullmatch(decisions.releases, fact.name))
    function.in_python = not decided.cimport_only
    function.body = decided.body or function.body or returned_struct_body(function, decisions)
    function.aliases = decided.aliases
    function.overloads = decided.overloads
    function.result = decided.result
    function.is_corrected = bool(decided.roles) and not decisions.face_of
    return function


def make_function(
    fact: FactFunction, types: TypeTable, decisions: Decisions, decided: FunctionDecision
) -> Function:
    """Create a function of the convention "status_codes"."""
    params = []
    for p in fact.params:
        role = decided.roles.get(p.name, p.kind)
        if role.startswith("callback") and not decided.wraps_callback:
            role = "in"
        kind = param_kind(role, p.c_type, types, fact)
        params.append(Param(decisions.rename.get(p.name, p.name), p.name, p.c_type, kind))
    function = Function(
        fact.name,
        fact.c_name,
        fact.ret,
        params,
        fact.header,
        fact.since,
        releases.number(fact.since),
        fact.flags,
    )
    function.py = python_parameters(params)
    function.python_name = fact.name
    function.returns = outputs(params, fact.ret, decisions)
    function.wraps_callback = decided.wraps_callback
    function.sentence = sentence_of(function)
    function.returned, function.own_doc = outputs_in_words(function, decisions), decided.doc
    return function


def outputs_in_words(function: Function, decisions: Decisions) -> str:
    """The words for the outputs in the documentation."""
    if "inline" in function.flags and "object" in function.returns:
        return f"a {function.ret}"
    names = [function.ret if n == "object" else n for n in function.returns if n != "err"]
    return f"({', '.join([decisions.result_enum, *names])})"


def python_parameters(params: list[Param]) -> list[str]:
    arguments = [p for p in params if p.kind.is_argument]
    counts = [f"{p.name}=0" for p in arguments if p.kind.is_a("inout", "count")]
    return [p.name for p in arguments if not p.kind.is_a("inout", "count")] + counts


def outputs(params: list[Param], ret: str, decisions: Decisions) -> list[str]:
    names = [p.name for p in params if p.kind.is_returned]
    if ret == decisions.result_enum:
        return names
    return ["err" if ret.endswith("*") else "object", *names]


def returned_struct_body(function: Function, decisions: Decisions) -> str | None:
    """The body of a function that returns a struct; an inline one returns the object alone."""
    if function.ret == decisions.result_enum or "object" not in function.returns:
        return None
    return "bare_struct" if "inline" in function.flags else "returned_struct"


def older_variant(function: Function, decided: FunctionDecision) -> int:
    """The newest older variant that may replace a function; 0: none."""
    if not decided.older_variants:
        return 0
    if not function.older_versions:
        raise ValueError(f"{function.name} has no older variant of the same C type")
    return function.older_versions[-1]
