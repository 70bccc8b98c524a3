# SPDX-License-Identifier: Apache-2.0
"""Facts of a header before any decision: `extract` creates them and `api_file` stores them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class FactParam:
    c_type: str
    name: str
    kind: str  # by the heuristics of `classify`; an override may replace it


@dataclass(slots=True)
class FactFunction:
    name: str
    c_name: str
    ret: str
    params: list[FactParam]
    header: str
    since: str = ""
    flags: tuple[str, ...] = ()


@dataclass(slots=True)
class FactField:
    """A member; `record` is set for members of an anonymous struct or union type."""

    name: str  # empty for unnamed members
    c_type: str  # of a member with a `record`: only its array extents
    record: FactRecord | None = None


@dataclass(slots=True)
class FactRecord:
    word: str  # "struct" or "union"
    tag: str  # empty for anonymous ones
    fields: list[FactField] = field(default_factory=list)
    header: str = ""
    scope: str = ""  # tag of the enclosing record, which C++ needs
    alignment: int = 0  # if wider than that of a pointer
    size: int = 0  # of a record with an alignment


@dataclass(slots=True)
class FactEnum:
    tag: str  # empty for anonymous ones
    members: list[tuple[str, int]]
    header: str = ""
    word: str = "enum"  # or "typedef enum": no tag, `tag` is the typedef name


@dataclass(slots=True)
class FactTypedef:
    """`word` is the kind of type: number, opaque, callback, struct, enum, or alias."""

    word: str
    name: str
    target: str
    header: str = ""


@dataclass(slots=True)
class FactConstant:
    name: str
    value: int
    header: str = ""
    c_type: str = ""  # of a macro with a cast: "CUstream"


@dataclass(slots=True)
class Facts:
    library: str
    version: str
    headers: list[str]
    is_by_hand: bool = False  # no header is read
    guards: dict[str, str] = field(default_factory=dict)  # header -> include guard
    constants: list[FactConstant] = field(default_factory=list)
    types: list[FactRecord | FactEnum | FactTypedef] = field(default_factory=list)
    functions: list[FactFunction] = field(default_factory=list)
