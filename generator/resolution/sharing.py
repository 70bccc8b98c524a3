# SPDX-License-Identifier: Apache-2.0
"""Copies tables and explanations from a library that another one uses."""

from __future__ import annotations

from dataclasses import replace

from ..decisions import Decisions
from ..kinds import Kind
from ..model import Enum, Library


def attribute_tables(
    decisions: Decisions, enums: list[Enum], uses: dict[str, Library]
) -> dict[str, dict[str, Kind]]:
    """Map enums to members to the kinds of their values.

    `like` copies the table of another library's enum whose members have the same values. `types`
    maps its types to types of this library.
    """
    values = {e.name: {m.value: m.name for m in e.members} for e in enums}
    tables = {}
    for enum, rows in decisions.attributes.items():
        if "like" not in rows:
            tables[enum] = {member: Kind.read("value", words) for member, words in rows.items()}
            continue
        theirs, library = enum_of(rows["like"], uses), rows["like"].partition(".")[0]
        members = {m.name: m.value for m in theirs.members}
        tables[enum] = {
            values[enum][members[member]]: translated(kind, library, rows.get("types", {}))
            for member, kind in uses[library].attributes[theirs.name].items()
            if members[member] in values[enum]
        }
    return tables


def share_docs(decisions: Decisions, enums: list[Enum], uses: dict[str, Library]) -> None:
    """Copy missing explanations from members of equal value in `like`."""
    for enum in enums:
        docs = decisions.enum_docs.get(enum.name, {})
        if "like" not in docs:
            continue
        theirs = {m.value: m.doc for m in enum_of(docs["like"], uses).members}
        for member in enum.members:
            member.doc = member.doc or theirs.get(member.value, "")


def enum_of(path: str, uses: dict[str, Library]) -> Enum:
    """`driver.CUresult`."""
    library, _, name = path.partition(".")
    return next(e for e in uses[library].enums if e.name == name)


def translated(kind: Kind, library: str, types: dict[str, str]) -> Kind:
    """`handle:cuuint64_t` -> `handle:driver.cuuint64_t`, unless `types` maps it."""
    if kind.shape == "plain":
        return kind
    return replace(kind, element=types.get(kind.element) or f"{library}.{kind.element}")
