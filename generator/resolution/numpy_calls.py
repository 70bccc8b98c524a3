# SPDX-License-Identifier: Apache-2.0
"""Parameters with NumPy structs: structs that a call fills, arrays whose length it returns first.

An *assembled* struct is built by the engine: arguments set its fields, its version is set, and the
result is the struct or a field of it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..classify import split_type
from ..decisions import Decisions
from ..decisions.functions import AssembledStruct, FunctionDecision
from ..facts import FactFunction
from ..kinds import Kind
from ..model import Assembly, Function, NumpyStruct, Param
from .exceptions import outputs, outputs_in_words

VERSIONED = re.compile(r"_v(\d+)(?:_t)?$")


class NumpyCalls:
    """Applies the decisions about functions with NumPy structs."""

    def __init__(self, types: list[NumpyStruct], names, decisions: Decisions):
        self.types = {t.name: t for t in types}
        self.class_of = names
        self.decisions = decisions

    def apply(self, function: Function, fact: FactFunction) -> None:
        """Set the kinds of parameters that involve NumPy structs."""
        decided = self.decisions.function(fact.name)
        params = [self.param(decided, p) for p in function.params]
        if counted := decided.counted:
            params = [self.counted(p, counted) for p in params]
            if "count" in counted and "capacity" not in counted:
                function.body = function.body or "counted_call"
        if any(p.assembly and p.assembly.counted >= 0 for p in params):
            function.body = function.body or "counted_struct_call"
        function.params = params
        function.py = [name for p in params for name in arguments(p)]
        function.returns = outputs(params, fact.ret, self.decisions)
        if decided.code_is_result:
            function.returns, function.returns_code = ["result"], False
        function.returned = outputs_in_words(function)

    def param(self, decided: FunctionDecision, p: Param) -> Param:
        base, stars = split_type(p.c_type)
        if p.c_name in decided.lengths:
            return replace(p, kind=Kind("none", "length", aux=decided.lengths[p.c_name]))
        if p.c_name in decided.defaults:
            return replace(p, kind=Kind("in", "or_zero"))
        if p.c_name in decided.fixed:
            return replace(p, kind=Kind("none", "fixed", str(decided.fixed[p.c_name])))
        chosen = next((a for a in decided.assembled if a.param == p.c_name), None)
        numpy_struct = self.numpy_struct(base) if stars == 1 else None
        if chosen and chosen.type:
            numpy_struct = self.types[chosen.type]
        is_read = p.c_name in decided.inputs
        if numpy_struct is None:
            return replace(p, kind=Kind("in", "intptr")) if is_read else p
        if p.c_name in decided.objects:
            return replace(p, kind=Kind("in", "object", numpy_struct.name))
        if chosen is None and (is_read or p.c_type.startswith("const ")):
            return replace(p, kind=Kind("in", "data", numpy_struct.name))
        if chosen is None and p.kind.is_a("in", "intptr"):  # a handwritten step converts it
            return p
        assembly = self.assembly(numpy_struct, chosen or AssembledStruct(p.c_name))
        if not assembly.version and chosen is None:
            return replace(p, kind=Kind("out", "data", numpy_struct.name, p.aux))
        way = "none" if chosen and chosen.out == "nothing" else "out"
        return replace(p, kind=Kind(way, "assembled"), assembly=assembly)

    def numpy_struct(self, base: str) -> NumpyStruct | None:
        name = self.class_of(base)
        return self.types.get(name) if name else None

    def assembly(self, numpy_struct: NumpyStruct, chosen: AssembledStruct) -> Assembly:
        places = {f.c_path: i for i, f in enumerate(numpy_struct.fields)}
        version = VERSIONED.search(numpy_struct.c_type)
        is_versioned = version and numpy_struct.fields[0].c_path == "version"
        return Assembly(
            numpy_struct.name,
            int(version[1]) if is_versioned else 0,
            [(places[field], name) for field, name in chosen.inputs.items()],
            places.get(chosen.out, -1),
            places[chosen.counted] if chosen.counted else -1,
            chosen.older,
        )

    def counted(self, p: Param, counted: dict) -> Param:
        count = counted.get("count") or counted["length"]
        if p.c_name == counted.get("count"):
            if "capacity" in counted:
                return replace(p, kind=Kind("none", "capacity", str(counted["capacity"])))
            return replace(p, kind=Kind("out" if counted.get("is_returned") else "none", "count"))
        if p.c_name in counted.get("structs", ()):
            return replace(p, kind=replace(p.kind, aux=count))
        if p.c_name not in counted.get("arrays", ()):
            return p
        base, _ = split_type(p.c_type)
        if base == "char":
            return replace(p, kind=Kind("out", "counted_text", aux=count))
        numpy_struct = self.numpy_struct(base)
        element = numpy_struct.name if numpy_struct else base
        return replace(p, kind=Kind("out", "array", element, count))


def arguments(p: Param) -> list[str]:
    """The Python parameters of one C parameter."""
    if p.assembly:
        return [name for _, name in p.assembly.inputs]
    if p.kind.is_a("in", "or_zero"):
        return [f"{p.name}=0"]
    return [p.name] if p.kind.is_argument else []
