# SPDX-License-Identifier: Apache-2.0
"""Facts + decisions -> the model: classes, kinds, Python signatures, capsule strings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import releases
from ..classify import SCALARS, opaque_handles, split_type
from ..decisions import Decisions, Override
from ..facts import FactEnum, FactFunction, FactRecord, Facts, FactTypedef
from ..model import Constant, Enum, Field, Function, Handle, Library, Member, Param, Struct, Typedef
from . import exceptions
from .anonymous import Numbering
from .data_calls import DataCalls
from .data_types import data_types
from .exceptions import named_enums
from .kinds import param_kind
from .macro_enums import macro_enums
from .sharing import attribute_tables, share_docs
from .signatures import capsule_signature

NO_OVERRIDE = Override("")


def resolve(facts: Facts, decisions: Decisions, uses: dict[str, Library] | None = None) -> Library:
    types = TypeTable(facts, decisions)
    share_docs(decisions, types.enums, uses or {})
    raises = decisions.convention == "exceptions"
    functions = [resolve_function(f, types, decisions) for f in facts.functions]
    made = data_types(facts, types, decisions) if raises else None
    if made:
        calls = DataCalls(made.made, made.class_of, decisions)
        for function, fact in zip(functions, facts.functions, strict=True):
            calls.apply(function, fact)
        exceptions.find_size_functions(functions, decisions)
    unknown = set(decisions.functions) - {f.name for f in functions}
    if unknown:
        raise ValueError(f"{facts.library}.toml: no such function: {', '.join(sorted(unknown))}")
    return Library(
        name=facts.library,
        headers=facts.headers,
        functions=functions,
        enums=all_enums(facts, types, decisions) if raises else types.enums,
        handles=[] if raises else types.handles,
        structs=[] if raises else types.structs,
        constants=[Constant(c.name, c.value, c.header, c.c_type) for c in facts.constants],
        offered=offered_constants(facts, decisions),
        result_type=decisions.result_type,
        cimports=decisions.cimports,
        foreign_structs=decisions.foreign_structs,
        const_parameters=decisions.const_parameters,
        enum_aliases=decisions.enum_aliases,
        typedefs=types.typedefs,
        result_enum=decisions.result_enum,
        success=decisions.success,
        not_found=decisions.not_found,
        loading=decisions.loading,
        convention=decisions.convention,
        exception=decisions.exception,
        exceptions=decisions.exceptions,
        not_found_value=decisions.not_found_value,
        declares_itself=decisions.declares_itself,
        guards=facts.guards,
        includes=decisions.includes,
        package=decisions.package,
        version=facts.version,
        attributes=attribute_tables(decisions, types.enums, uses or {}),
        uses=uses or {},
        included_by=decisions.included_by,
        implemented_here=frozenset(decisions.implemented_here),
        declarations=facts.types,
        module_scope=frozenset(decisions.module_scope),
        optional_headers=frozenset(decisions.optional_headers),
        stored_as=decisions.stored_as,
        optional_lists=frozenset(decisions.optional_lists),
        before=list(decisions.before),
        data_types=made.made if made else [],
        exception_aliases=decisions.exception_aliases,
        error_details=decisions.error_details,
        error_extras=decisions.error_extras,
        insufficient=decisions.insufficient,
        null_status=decisions.refuses_null.get("status", ""),
        status_checks=decisions.status_checks,
        python_enums=decisions.python_enums,
    )


def offered_constants(facts: Facts, decisions: Decisions) -> list[Constant]:
    """Those of the headers; where names are chosen, those alone."""
    if decisions.constants is None:
        return [Constant(c.name, c.value, c.header, c.c_type) for c in facts.constants]
    values = {c.name: c for c in facts.constants}
    return [
        Constant(name, values[macro].value, values[macro].header)
        for name, macro in decisions.constants.items()
    ]


def all_enums(facts: Facts, types: TypeTable, decisions: Decisions) -> list[Enum]:
    """The enumerations of a library that raises, those made of macros included."""
    named = named_enums(types.enums, types, decisions)
    offered = [e for e in named if e.name not in decisions.hidden_enums]
    return offered + macro_enums(facts, decisions)


@dataclass(slots=True)
class NamedType:
    kind: str  # scalar, enum, handle, callback, struct, function
    target: str  # for typedefs: the name it stands for


class TypeTable:
    """Every type name of a library: what it is, and the classes made of it."""

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
        """Whether the .pxd declares the type itself, outside `extern`: there it is another type."""
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
        """The first typedef gives the class its name; a later one makes a class of its own."""
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
        self.structs.append(struct)
        if tagless:
            self.structs.append(Struct(item.tag, name, c_type, header=item.header))

    def fill(self, struct: Struct, record: FactRecord) -> None:
        """Fields of a class; members of an unnamed member count as members of what holds it."""
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
            struct.fields.append(Field(member.name, f"struct:{inner.name}", False, member.name))

    def field(self, struct: str, name: str, c_type: str) -> Field:
        special = self.decisions.fields.get(struct, {}).get(name, {})
        kind = special.get("kind") or self.field_kind(name, c_type)
        readonly = special.get("readonly", name.endswith("_out") and kind.startswith("ptr[]"))
        return Field(name, kind, readonly, name, c_type)

    def field_kind(self, name: str, c_type: str) -> str:
        base, stars = split_type(re.sub(r"\[\d+\]", "", c_type))
        extent = re.search(r"\[(\d+)\]", c_type)
        if extent:
            if base in ("char", "unsigned char") and not stars:
                return f"bytes[{extent.group(1)}]"
            return f"arr:{'voidp' if stars else base}"
        if base == "void" and stars:
            return {1: "voidp"}.get(stars, "kparams" if name == "kernelParams" else "void_ptr")
        kind = self.kind_of(base)
        if stars or "(" in c_type:
            return f"ptr[]:{base}" if kind in ("handle", "struct") else "voidp"
        words = {"enum": "enum", "handle": "handle", "callback": "handle", "struct": "struct"}
        return f"{words[kind]}:{base}" if kind in words else base


def resolve_function(fact: FactFunction, types: TypeTable, decisions: Decisions) -> Function:
    override = decisions.functions.get(fact.name, NO_OVERRIDE)
    unknown = set(override.roles) - {p.name for p in fact.params}
    if unknown:
        raise ValueError(f"{fact.name}: no such parameter: {', '.join(sorted(unknown))}")
    make = exceptions.make_function if decisions.convention == "exceptions" else make_function
    function = make(fact, types, decisions, override)
    function.signature = capsule_signature(fact, types, decisions)
    function.releases_gil = fact.name not in decisions.keeps_gil
    function.is_brief = bool(re.fullmatch(decisions.brief, fact.name))
    function.is_gated = function.releases_gil and bool(re.fullmatch(decisions.gated, fact.name))
    function.older = older_variant(function, decisions)
    function.is_hot = fact.name in decisions.hot or bool(
        re.fullmatch(decisions.hot_pattern, fact.name)
    )
    function.in_python = fact.name not in decisions.cimport_only
    function.body = override.body or returned_struct_body(function, decisions)
    function.overloads = override.overloads
    function.result = override.result
    function.is_corrected = bool(override.roles)
    return function


def make_function(
    fact: FactFunction, types: TypeTable, decisions: Decisions, override: Override
) -> Function:
    """What the convention "codes" says of a function."""
    wraps = fact.name in decisions.wrapped_callbacks
    params = []
    for p in fact.params:
        role = override.roles.get(p.name, p.kind)
        if role.startswith("callback") and not wraps:
            role = "in"
        kind, aux = param_kind(role, p.c_type, types, fact)
        params.append(Param(decisions.rename.get(p.name, p.name), p.name, p.c_type, kind, aux))
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
    function.wraps_callback = wraps
    function.doc = override.doc or describe(function, decisions)
    return function


def describe(function: Function, decisions: Decisions) -> str:
    """The documentation that every function gets: what comes back, and what it stands on."""
    if "inline" in function.flags and "object" in function.returns:
        return f"Returns a {function.ret}. Inline function {function.c_name} of {function.header}."
    names = [function.ret if n == "object" else n for n in function.returns if n != "err"]
    result = ", ".join([decisions.result_enum, *names])
    origin = f"C function {function.c_name} of {function.header}"
    needs = f", CUDA {function.since} or newer" if function.since else ""
    return f"Returns ({result}). {origin}{needs}."


def python_parameters(params: list[Param]) -> list[str]:
    given = [p for p in params if p.kind.startswith("in") and p.kind != "in:attrsize"]
    return [p.name for p in given if p.kind != "inout:count"] + [
        f"{p.name}=0" for p in given if p.kind == "inout:count"
    ]


def outputs(params: list[Param], ret: str, decisions: Decisions) -> list[str]:
    found = [p.name for p in params if p.kind.startswith(("out", "inout"))]
    if ret == decisions.result_enum:
        return found
    return ["err" if ret.endswith("*") else "object", *found]


def returned_struct_body(function: Function, decisions: Decisions) -> str | None:
    """Functions that return a struct cannot fail; the inline ones give the bare object."""
    if function.ret == decisions.result_enum or "object" not in function.returns:
        return None
    return "bare_struct" if "inline" in function.flags else "returned_struct"


def older_variant(function: Function, decisions: Decisions) -> int:
    """The newest older variant that may stand in for a function; 0: none."""
    if function.name not in decisions.older_variants:
        return 0
    if not function.older_versions:
        raise ValueError(f"{function.name} has no older variant of the same C type")
    return function.older_versions[-1]
