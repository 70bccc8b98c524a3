# SPDX-License-Identifier: Apache-2.0
"""Python names for C names: without prefixes, in snake case."""

from __future__ import annotations

import re
from itertools import takewhile

from ..decisions import Decisions, EnumNames
from ..facts import FactEnum
from ..model import Member


def snake_case(name: str) -> str:
    """`GetLinkedLTOIRSize` -> `get_linked_ltoir_size`."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def function_name(c_name: str, decisions: Decisions) -> str:
    return snake_case(in_words(without_prefix(c_name, decisions), decisions))


def in_words(name: str, decisions: Decisions) -> str:
    """A name split into words that its capitals do not show: `Memcpy2D` -> `Memcpy_2d`."""
    for written, read in decisions.words.items():
        name = name.replace(written, read)
    return name


def camel_case(name: str) -> str:
    """`ARRAY_DESCRIPTOR_v2` -> `ArrayDescriptor_v2`, `accessWindow_v1` -> `AccessWindow_v1`."""
    head, version = re.fullmatch(r"(.*?)((?:_v\d+)?)", name).groups()
    words = (
        word.capitalize() if word.isupper() else word[:1].upper() + word[1:]
        for word in head.split("_")
    )
    return "".join(words) + version


def class_name(c_name: str, decisions: Decisions) -> str:
    """`nvmlReturn_t` -> `Return`."""
    if c_name in decisions.python_names:
        return decisions.python_names[c_name]
    if decisions.face_of:
        return camel_case(without_prefix(c_name, decisions).removesuffix("_st").removesuffix("_t"))
    return without_prefix(c_name, decisions).removesuffix("_t")


def error_name(c_name: str) -> str:
    """`ERROR_INVALID_DEVICE` -> `InvalidDeviceError`."""
    words = c_name.removeprefix("ERROR_").removesuffix("_ERROR").split("_")
    return "".join(word.capitalize() for word in words) + "Error"


def without_prefix(c_name: str, decisions: Decisions) -> str:
    prefix = next((p for p in decisions.prefixes if c_name.startswith(p)), "")
    return c_name.removeprefix(prefix)


def enum_members(
    item: FactEnum, names: EnumNames, docs: dict[str, str], in_capitals: bool = False
) -> list[Member]:
    """The members without their common prefix, followed by aliases."""
    prefix = common_prefix(item) if names.prefix is None else names.prefix
    shown = capitals_of(item) if in_capitals and is_camel(item) else {}
    members = {}
    for c_name, value in item.members:
        name = names.renames.get(c_name) or shown.get(c_name) or c_name.removeprefix(prefix)
        members[name] = Member(name, value, docs.get(c_name, ""), c_name)
    further = {}
    if names.short_prefix:
        further = {m.c_name.removeprefix(names.short_prefix): m for m in members.values()}
    further |= {alias: members[name] for alias, name in names.aliases.items()}
    for alias, member in further.items():
        members.setdefault(alias, Member(alias, member.value, member.doc, member.c_name))
    return list(members.values())


def is_camel(item: FactEnum) -> bool:
    return not any(name.isupper() for name, _ in item.members)


def capitals_of(item: FactEnum) -> dict[str, str]:
    """`cudaMemcpyHostToDevice` -> `HOST_TO_DEVICE`: without the common words."""
    words = {c_name: snake_case(c_name).split("_") for c_name, _ in item.members}
    columns = zip(*(w[:-1] for w in words.values()), strict=False)
    same = list(takewhile(lambda column: len(set(column)) == 1, columns))
    count = len(same) if len(words) > 1 else 1
    named = {c_name: "_".join(w[count:]).upper() for c_name, w in words.items()}
    return {c: n if n.isidentifier() else f"_{n}" for c, n in named.items()}


def common_prefix(item: FactEnum) -> str:
    """The common leading words of all members, but for at least one word each."""
    words = [name.split("_")[:-1] for name, _ in item.members]
    if len(words) < 2:
        return ""
    same = list(takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False)))
    return "".join(f"{column[0]}_" for column in same)
