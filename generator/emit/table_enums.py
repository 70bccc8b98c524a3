# SPDX-License-Identifier: Apache-2.0
"""Records of enumerations and their members."""

from __future__ import annotations

from ..model import Enum, Library
from .packed_texts import PackedTexts
from .table_rows import Rows
from .table_text import dotted


def enums_table(library: Library, texts: PackedTexts) -> str:
    members = Rows("const member", "members")
    lines = "".join(f"  {enum_record(library, texts, e, members)},\n" for e in library.enums)
    return (
        f"{members.source()}constexpr enumeration enum_records[] = {{\n{lines}}};\n"
        f"enum_type* enum_types[{len(library.enums)}];\n"
    )


def enum_record(library: Library, texts: PackedTexts, enum: Enum, members: Rows) -> str:
    rows = [
        f"{{{texts(m.name)}, {texts(m.doc or '')}, {enumerator(enum, m)}}}" for m in enum.members
    ]
    is_unsigned = str(enum.is_unsigned).lower()
    place = f"{members.block(enum.name, rows)}, {len(rows)}"
    return f"{{{texts(dotted(library, enum.name))}, {place}, {is_unsigned}}}"


def enumerator(enum: Enum, member) -> str:
    return f"std::int64_t({member.c_name})" if enum.is_macros else f"::{member.c_name}"
