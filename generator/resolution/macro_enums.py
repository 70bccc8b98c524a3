# SPDX-License-Identifier: Apache-2.0
"""Enumerations that a header spells as macros with a common prefix."""

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
    """A macro that casts to a pointer is no constant to C++: its value stands in."""
    return str(value) if macro in casts else macro


def macro_enum(name: str, table: dict, values: dict[str, int], casts: set[str]) -> Enum:
    """The macros that begin with a prefix, by value; then further names of some."""
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
    rest = c_name.removeprefix(table["prefix"])
    if rest == c_name or rest in table.get("not", ()):
        return False
    return "only" not in table or rest in table["only"]


def member_name(text: str) -> str:
    """`GpuIdle` -> `GPU_IDLE`; names in capitals stay."""
    return text if text.isupper() else re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).upper()
