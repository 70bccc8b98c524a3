# SPDX-License-Identifier: Apache-2.0
"""The types of a library by name, and their classes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..classify import SCALARS, opaque_handles, split_type
from ..decisions import Decisions
from ..facts import FactEnum, FactRecord, Facts, FactTypedef
from ..kinds import Kind
from ..model import Enum, Field, Handle, Member, Struct, Typedef
from .anonymous import Numbering


@dataclass(slots=True)
class NamedType:
    kind: str  # scalar, enum, handle, callback, struct, function
    target: str  # of a typedef


class TypeTable:
    """All type names of a library with their kinds, and their classes."""

    def __init__(self, facts: Facts, decisions: Decisions):
        self.decisions = decisions
        self.named: dict[str, NamedType] = {n: NamedType("scalar", "") for n in SCALARS}
        self.enums: list[Enum] = []
        self.handles: list[Handle] = []
        self.structs: list[Struct] = []
        self.typedefs: list[Typedef] = []
        self.enum_tags: dict[str, FactEnum] = {}
        self.numbering = Numbering()
        self.headers: dict[str, str] = {}
        self.tag_words = dict.fromkeys(decisions.foreign_structs, "struct")
        self.opaque = opaque_handles(facts)
        self.defined: set[str] = set()  # macros that name a type
        for item in facts.types:
            self.name(item)
        for item in facts.types:
            self.add(item)

    # --- names ---------------------------------------------------------------------------------

    def name(self, item: FactEnum | FactRecord | FactTypedef) -> None:
        self.headers[item.name if isinstance(item, FactTypedef) else item.tag] = item.header
        if isinstance(item, FactEnum | FactRecord):
            if not item.word.startswith("typedef "):
                self.tag_words[item.tag] = item.word
            self.named[item.tag] = NamedType("enum" if isinstance(item, FactEnum) else "struct", "")
        elif item.word == "define":
            self.defined.add(item.name)
            self.named[item.name] = NamedType(self.kind_of(item.target), item.target)
        elif item.name in self.decisions.identity_integers:
            self.named[item.name] = NamedType("handle", item.target)
        else:
            if item.word == "opaque" and "void" not in item.target:
                self.tag_words.setdefault(split_type(item.target)[0], "struct")
            kinds = {"number": "scalar", "opaque": "handle"}
            self.named[item.name] = NamedType(kinds.get(item.word, item.word), item.target)

    def header_of(self, name: str) -> str:
        return self.headers.get(name, "")

    def is_declared_by_us(self, name: str) -> bool:
        """Whether the .pxd declares the type, outside `extern`, which makes it a different type."""
        return self.header_of(name) in self.decisions.module_scope or name in self.defined

    def kind_of(self, name: str) -> str:
        return self.named[name].kind if name in self.named else "unknown"

    def canonical(self, name: str) -> str:
        """The C type at the end of a chain of typedefs."""
        while name in self.named and self.named[name].target:
            name = self.named[name].target
        return name

    # --- classes -------------------------------------------------------------------------------

    def add(self, item: FactEnum | FactRecord | FactTypedef) -> None:
        if isinstance(item, FactEnum):
            self.enum_tags[item.tag] = item
            self.add_enum(item.tag, item)
        elif isinstance(item, FactRecord):
            self.add_record(item)
        else:
            self.add_typedef(item)

    def add_enum(self, name: str, item: FactEnum) -> None:
        docs = self.decisions.enum_docs.get(name, {})
        members = [Member(n, v, docs.get(n, "")) for n, v in item.members]
        self.enums.append(Enum(name, item.tag, members, item.header))

    def add_typedef(self, item: FactTypedef) -> None:
        kind = self.kind_of(item.name)
        if kind in ("handle", "callback"):
            stored = self.decisions.stored_as.get(item.name) or self.canonical(item.name)
            shape = {"callback": "function"}.get(kind, "pointer" if "*" in stored else "integer")
            self.handles.append(
                Handle(
                    item.name,
                    self.decisions.bases.get(item.name),
                    stored,
                    shape,
                    item.header,
                    item.name in self.decisions.streams,
                )
            )
        elif kind == "enum":
            self.add_enum_typedef(item)
        elif kind == "struct":
            self.structs.append(Struct(item.name, item.target, item.name, header=item.header))
        else:
            self.typedefs.append(Typedef(item.name, item.target, item.header))

    def add_enum_typedef(self, item: FactTypedef) -> None:
        """Add an enum: the first typedef renames the class of its tag, a later one adds a class."""
        tag = self.canonical(item.target)
        declared = self.enum_tags[tag]
        first = next((e for e in self.enums if e.name == tag), None)
        if first and declared.word == "enum":
            self.enums.remove(first)
        self.add_enum(item.name, FactEnum(tag, declared.members, item.header))

    def add_record(self, item: FactRecord) -> None:
        is_direct = item.tag in self.decisions.direct_structs
        tagless = item.word.startswith("typedef ") and not is_direct
        c_type = f"{item.scope}::{item.tag}" if item.scope else item.tag
        name = self.numbering.next(item.word.split()[-1]) if tagless else item.tag
        struct = Struct(
            name,
            None,
            c_type,
            is_union=item.word.endswith("union"),
            header=item.header,
            view_only=tagless,
            alignment=item.alignment,
            size=item.size,
        )
        self.fill(struct, item)
        joint = self.decisions.joint_lists.get(item.tag, {})
        struct.joint_lists, struct.joint_count = joint.get("lists", []), joint.get("count", "")
        for each in struct.fields:
            each.joint = each.name in struct.joint_lists
        self.structs.append(struct)
        if tagless:
            self.structs.append(Struct(item.tag, name, c_type, header=item.header))

    def fill(self, struct: Struct, record: FactRecord) -> None:
        """Add the fields of a class; members of an unnamed member are fields of the class."""
        for member in record.fields:
            if member.record is None:
                struct.fields.append(self.field(struct.name, member.name, member.c_type))
                continue
            if not member.name:
                self.fill(struct, member.record)
                self.numbering.next(member.record.word)
                continue
            is_union = member.record.word == "union"
            inner = Struct("", None, "", view_only=True, is_union=is_union, header=struct.header)
            inner.c_type = f"decltype(std::declval<{struct.c_type}&>().{member.name})"
            self.fill(inner, member.record)
            inner.name = member.record.tag = self.numbering.next(member.record.word)
            self.structs.append(inner)
            kind = Kind("field", "struct", inner.name)
            struct.fields.append(Field(member.name, kind, False, member.name))

    def field(self, struct: str, name: str, c_type: str) -> Field:
        special = self.decisions.fields.get(struct, {}).get(name, {})
        decided = special.get("kind")
        kind = Kind.read("field", decided) if decided else self.field_kind(name, c_type)
        readonly = special.get("readonly", name.endswith("_out") and kind.is_a("field", "list"))
        return Field(name, kind, readonly, name, c_type)

    def field_kind(self, name: str, c_type: str) -> Kind:
        base, stars = split_type(re.sub(r"\[\d+\]", "", c_type))
        extent = re.search(r"\[(\d+)\]", c_type)
        if extent:
            if base in ("char", "unsigned char") and not stars:
                return Kind("field", "bytes", extent.group(1))
            return Kind("field", "array", "voidp" if stars else base)
        if base == "void" and stars > 1:
            return Kind("field", "kparams" if name == "kernelParams" else "void**")
        kind = self.kind_of(base)
        if stars or "(" in c_type:
            is_list = kind in ("handle", "struct")
            return Kind("field", "list", base) if is_list else Kind("field", "voidp")
        shapes = {"enum": "enum", "handle": "handle", "callback": "handle", "struct": "struct"}
        return Kind("field", shapes.get(kind, "number"), base)
