# SPDX-License-Identifier: Apache-2.0
"""What a library takes from another one that it uses, instead of stating it twice."""

from __future__ import annotations

from ..decisions import Decisions
from ..model import Enum, Library

# kinds of attribute values that name a class
TYPED = ("handle", "struct", "enum")


def attribute_tables(
    decisions: Decisions, enums: list[Enum], uses: dict[str, Library]
) -> dict[str, dict[str, str]]:
    """Enum -> member -> kind of the value behind it. `like` takes the table of another library's
    enum, whose members have the same values, and `types` says what its types are called here."""
    values = {e.name: {m.value: m.name for m in e.members} for e in enums}
    tables = {}
    for enum, rows in decisions.attributes.items():
        if "like" not in rows:
            tables[enum] = rows
            continue
        name, _, theirs = rows["like"].partition(".")
        other = uses[name]
        members = next({m.name: m.value for m in e.members} for e in other.enums if e.name == theirs)
        tables[enum] = {
            values[enum][members[member]]: translated(kind, name, rows.get("types", {}))
            for member, kind in other.attributes[theirs].items()
            if members[member] in values[enum]
        }
    return tables


def translated(kind: str, library: str, types: dict[str, str]) -> str:
    """`handle:cuuint64_t` -> `handle:driver.cuuint64_t`; `enum:CUjit_fallback` -> `enum:...` here."""
    word, _, name = kind.partition(":")
    if word not in TYPED:
        return kind
    return f"{word}:{types.get(name) or f'{library}.{name}'}"
