# SPDX-License-Identifier: Apache-2.0
"""NumPy structs of libraries whose functions raise: classes over C memory, field by field.

Each struct becomes a class with the name of its typedef; README.md lists the forms of fields.
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
# attributes of the classes, built-in functions and keywords that fields must not hide
TAKEN = {"data", "default", "device", "flags", "max", "min", "ptr", "size"}
NEVER_SHOWN = re.compile(r"reserved\d*|padding\d*")


def numpy_structs(facts: Facts, types, decisions: Decisions) -> StructBuilder:
    """Build the public structs and the structs that calls need, each after its members."""
    builder = StructBuilder(facts, types, decisions)
    for item in facts.types:
        if isinstance(item, FactRecord):
            builder.add(item)
    return builder


def assembled_types(facts: Facts, types, decisions: Decisions) -> set[str]:
    """The structs built from arguments of calls."""
    names = set()
    for function in facts.functions:
        params = {p.name: split_type(p.c_type)[0] for p in function.params}
        for assembled in decisions.function(function.name).assembled:
            names.add(types.canonical(params[assembled.param]))
    return names


class StructBuilder:
    def __init__(self, facts: Facts, types, decisions: Decisions):
        self.types = types
        self.decisions = decisions
        self.choice = decisions.numpy_structs
        self.structs: list[NumpyStruct] = []
        # Tag of a struct -> typedef that names its class.
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
            scope = f"::{item.scope}" if item.scope else ""  # of a nested record
            self.add_class(name, f"{scope}::{c_name}", c_name, item, not is_hidden)

    def add_class(
        self, name: str, c_type: str, path: str, item: FactRecord, is_public: bool = True
    ) -> None:
        """Add a class. `path` is its name in decisions: the C name and the path of members."""
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
        self.structs.append(
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
        """The name of an anonymous struct; a further face derives it from the path by default."""
        if self.decisions.face_of and path not in self.choice.anonymous:
            return f"_{path.replace('.', '_')}"
        return self.choice.anonymous[path]

    def is_padding(self, name: str, is_array: bool) -> bool:
        return bool(
            (is_array and NEVER_SHOWN.fullmatch(name)) or re.fullmatch(self.choice.padding, name)
        )

    def nested(self, c_type: str, path: str, member: FactField) -> list[NumpyField]:
        """Fields of a member with an anonymous type: a view of a class that the decisions name.
        Members of an unnamed member are fields of the enclosing struct."""
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
        """The form of a field, and its class or element type."""
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
        """The class of a struct by any of its names; empty if there is none."""
        tag = c_name
        named = self.types.named
        while tag in named and named[tag].target in named:
            tag = named[tag].target
        names = {t.c_type.rpartition("::")[2]: t.name for t in self.structs}
        return names.get(tag) or names.get(self.public.get(tag, tag), "")

    def field_name(self, path: str, c_name: str) -> str:
        name = self.choice.fields.get(f"{path}.{c_name}") or snake_case(c_name)
        return f"{name}_" if name in TAKEN else name
