# SPDX-License-Identifier: Apache-2.0
"""The structs of libraries whose functions raise: classes over C memory, field by field.

A class is made of each struct, under the name of its typedef; README.md lists the forms of fields.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..classify import split_type
from ..decisions import Decisions
from ..facts import FactField, FactRecord, Facts, FactTypedef
from ..model import NumpyField, NumpyStruct
from .names import class_name, snake_case

EXTENT = re.compile(r"\[(\d+)\]")
# attributes of the classes, built-in functions and keywords that fields would hide
TAKEN = {"data", "default", "device", "flags", "max", "min", "ptr", "size"}
NEVER_SHOWN = re.compile(r"reserved\d*|padding\d*")


def numpy_structs(facts: Facts, types, decisions: Decisions) -> Maker:
    """Those that are offered, each after the ones that it contains, and what calls need besides."""
    maker = Maker(facts, types, decisions)
    for item in facts.types:
        if isinstance(item, FactRecord):
            maker.add(item)
    return maker


def assembled_types(facts: Facts, types, decisions: Decisions) -> set[str]:
    """The structs that calls are made of."""
    found = set()
    for function in facts.functions:
        params = {p.name: split_type(p.c_type)[0] for p in function.params}
        for assembled in decisions.assembled.get(function.name, []):
            found.add(types.canonical(params[assembled.param]))
    return found


class Maker:
    def __init__(self, facts: Facts, types, decisions: Decisions):
        self.types = types
        self.decisions = decisions
        self.choice = decisions.numpy_structs
        self.made: list[NumpyStruct] = []
        # The tag of a record is a name of its own; a typedef names the others.
        self.public = {
            t.target: t.name
            for t in reversed(facts.types)
            if isinstance(t, FactTypedef) and t.word == "struct"
        }
        self.public |= self.choice.typedefs
        self.needed = assembled_types(facts, types, decisions)

    def public_name(self, item: FactRecord) -> str:
        own = item.word.startswith("typedef ") or item.tag.endswith("_t")
        return item.tag if own else self.public.get(item.tag, item.tag)

    def add(self, item: FactRecord) -> None:
        c_name = self.public_name(item)
        is_hidden = bool(re.fullmatch(self.choice.hidden, c_name))
        if not is_hidden or item.tag in self.needed:
            name = class_name(c_name, self.decisions)
            scope = f"::{item.scope}" if item.scope else ""  # of one declared inside another
            self.add_class(name, f"{scope}::{c_name}", c_name, item, not is_hidden)

    def add_class(
        self, name: str, c_type: str, path: str, item: FactRecord, is_public: bool = True
    ) -> None:
        """`path` is how the decisions call it: the C name, with the members that lead inside."""
        fields = [f for member in item.fields for f in self.field(c_type, path, member)]
        counters = {f.c_path: f.name for f in fields}
        counted = {
            member: counters[counter]
            for member, counter in self.choice.counters.get(path, {}).items()
        }
        shown = {counters[c] for c in self.choice.shown.get(path, [])}
        hidden = {*counted.values()} - shown
        fields = [
            replace(f, counter=counted.get(f.c_path, ""), is_hidden=f.is_hidden or f.name in hidden)
            for f in fields
        ]
        dtype = self.choice.dtypes.get(name) or f"{snake_case(name)}_dtype"
        dtype = dtype if is_public else ""
        self.made.append(
            NumpyStruct(name, c_type, fields, name in self.choice.arrays, dtype, item.header)
        )

    def field(self, c_type: str, path: str, member: FactField) -> list[NumpyField]:
        if member.record is not None:
            return self.nested(c_type, path, member)
        extents = EXTENT.findall(member.c_type)
        base, stars = split_type(EXTENT.sub("", member.c_type))
        form, target = self.form(base, stars, bool(extents), f"{path}.{member.name}")
        named = NumpyField(self.field_name(path, member.name), member.name, form, target)
        return [
            replace(
                named,
                is_array=bool(extents),
                is_hidden=self.is_padding(member.name, bool(extents)),
                enum=base if self.types.kind_of(base) == "enum" else "",
            )
        ]

    def anonymous_name(self, path: str) -> str:
        """A further face that nobody has named them for calls them by the way to them."""
        if self.decisions.face_of and path not in self.choice.anonymous:
            return f"_{path.replace('.', '_')}"
        return self.choice.anonymous[path]

    def is_padding(self, name: str, is_array: bool) -> bool:
        return bool(
            (is_array and NEVER_SHOWN.fullmatch(name)) or re.fullmatch(self.choice.padding, name)
        )

    def nested(self, c_type: str, path: str, member: FactField) -> list[NumpyField]:
        """A member whose type has no name is a class under a name of the decisions; members of one
        that has no name itself are members of what holds it."""
        if not member.name:
            return [f for inner in member.record.fields for f in self.field(c_type, path, inner)]
        inner_path = f"{path}.{member.name}"
        name = self.anonymous_name(inner_path)
        inner = f"std::remove_all_extents_t<decltype({c_type}::{member.name})>"
        self.add_class(name, inner, inner_path, member.record)
        field = NumpyField(self.field_name(path, member.name), member.name, "structure", name)
        is_hidden = bool(re.fullmatch(self.choice.padding, member.name))
        return [replace(field, is_array=bool(member.c_type), is_hidden=is_hidden)]

    def form(self, base: str, stars: int, is_array: bool, path: str) -> tuple[str, str]:
        """The form of a field, and the class or the element type behind it."""
        kind = self.types.kind_of(base)
        if forced := self.choice.forms.get(path):
            return forced, base
        if stars:
            if base == "char":
                return "text_pointer", ""
            counted = path.rpartition(".")
            if counted[2] not in self.choice.counters.get(counted[0], {}):
                return "address", ""
            is_struct = kind == "struct"
            return ("structure_list", self.class_of(base)) if is_struct else ("number_list", base)
        if kind == "struct":
            return "structure", self.class_of(base)
        if kind in ("handle", "callback"):
            return "address", ""
        if base == "char" and is_array:
            return "text", "char"
        return "numbers" if is_array else "number", base

    def class_of(self, c_name: str) -> str:
        """The class of a struct, whichever of its names is used; empty when there is none."""
        tag = c_name
        named = self.types.named
        while tag in named and named[tag].target in named:
            tag = named[tag].target
        names = {t.c_type.rpartition("::")[2]: t.name for t in self.made}
        return names.get(tag) or names.get(self.public.get(tag, tag), "")

    def field_name(self, path: str, c_name: str) -> str:
        name = self.choice.fields.get(f"{path}.{c_name}") or snake_case(c_name)
        return f"{name}_" if name in TAKEN else name
