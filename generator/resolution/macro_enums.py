# SPDX-License-Identifier: Apache-2.0
"""Enumerations that a header defines as macros with a common prefix."""

from __future__ import annotations

import re

from ..decisions import Decisions
from ..facts import FactEnum, Facts
from ..model import Enum, Member


def macro_enums(facts: Facts, decisions: Decisions) -> list[Enum]:
    values = {c.name: c.value for c in facts.constants}
    values |= {n: v for t in facts.types if isinstance(t, FactEnum) for n, v in t.members}
    casts = {c.name for c in facts.constants if c.c_type}
    return [macro_enum(n, table, values, casts) for n, table in decisions.macro_enums.items()]


def spelled(macro: str, value: int, casts: set[str]) -> str:
    """The value of a macro in C++: a macro with a pointer cast is no constant expression."""
    return str(value) if macro in casts else macro


def macro_enum(name: str, table: dict, values: dict[str, int], casts: set[str]) -> Enum:
    """The macros with a prefix, sorted by value, followed by aliases."""
    prefix, renames = table["prefix"], table.get("renames", {})
    chosen = {c: member_name(c.removeprefix(prefix)) for c in values if is_chosen(c, table)}
    chosen |= renames
    aliases = table.get("aliases", {})
    is_unsigned = table.get("unsigned", False)
    members = sorted(
        (Member(n, values[c], c_name=spelled(c, values[c], casts)) for c, n in chosen.items()),
        key=lambda m: (m.name in aliases, m.value % 2**64),
    )
    if is_unsigned:
        for member in members:
            member.value %= 2**64
    return Enum(name, name, members, is_macros=True, is_unsigned=is_unsigned)


def is_chosen(c_name: str, table: dict) -> bool:
    stem = c_name.removeprefix(table["prefix"])
    if stem == c_name or stem in table.get("not", ()):
        return False
    return "only" not in table or stem in table["only"]


def member_name(text: str) -> str:
    """`GpuIdle` -> `GPU_IDLE`; uppercase names do not change."""
    return text if text.isupper() else re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).upper()
