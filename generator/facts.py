# SPDX-License-Identifier: Apache-2.0
"""What a header says, nothing decided yet: records that `extract` makes and `api_file` stores."""

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
    """One member; `record` is set for members of an anonymous struct or union type."""

    name: str  # empty for unnamed members
    c_type: str  # of a member with a `record`: its array extents alone
    record: FactRecord | None = None


@dataclass(slots=True)
class FactRecord:
    word: str  # "struct" or "union"
    tag: str  # empty for anonymous ones
    fields: list[FactField] = field(default_factory=list)
    header: str = ""
    scope: str = ""  # tag of the record that a nested one is declared in: C++ needs it
    alignment: int = 0  # when wider than that of a pointer
    size: int = 0  # of a record whose alignment is stated


@dataclass(slots=True)
class FactEnum:
    tag: str  # empty for anonymous ones
    members: list[tuple[str, int]]
    header: str = ""
    word: str = "enum"  # or "typedef enum": no tag, `tag` is the typedef name


@dataclass(slots=True)
class FactTypedef:
    """`word` says what the name stands for: number, opaque, callback, struct, enum, or alias."""

    word: str
    name: str
    target: str
    header: str = ""


@dataclass(slots=True)
class FactConstant:
    name: str
    value: int
    header: str = ""
    c_type: str = ""  # of a macro that casts: "CUstream"


@dataclass(slots=True)
class Facts:
    library: str
    version: str
    headers: list[str]
    is_by_hand: bool = False  # no header is read
    guards: dict[str, str] = field(default_factory=dict)  # header -> macro that it defines first
    constants: list[FactConstant] = field(default_factory=list)
    types: list[FactRecord | FactEnum | FactTypedef] = field(default_factory=list)
    functions: list[FactFunction] = field(default_factory=list)
