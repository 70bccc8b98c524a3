# SPDX-License-Identifier: Apache-2.0
"""One C++ `field` record per member of a struct class."""

from __future__ import annotations

import re

from ..model import Field

PLAIN = {"voidp": "address", "void_ptr": "address", "kparams": "kernel_params"}


class Children:
    """Numbers the fields that are shown by objects of their own."""

    def __init__(self):
        self.count = 0

    def next(self) -> int:
        self.count += 1
        return self.count - 1


def field_record(field: Field, c_type: str, index, children: Children) -> str:
    member = f"std::declval<{c_type}&>().{field.c_path}"
    kind, element, type_index = kinds_of(field, member, index)
    child = children.next() if kind == "kind::structure" else 0
    flags = "read_only" if field.readonly else "no_flags"
    return (
        f"{{{index.texts(field.name)}, {kind}, {flags}, {element}, {child}, {type_index},\n"
        f"   offsetof({c_type}, {field.c_path}), sizeof({member})}}"
    )


def kinds_of(field: Field, member: str, index) -> tuple[str, str, str]:
    """C++ expressions: kind of the field, kind of its elements, class or enumeration."""
    none = "kind::i8"
    if field.kind in PLAIN:
        return f"kind::{PLAIN[field.kind]}", none, "-1"
    if re.fullmatch(r"bytes\[\d+\]", field.kind):
        return "kind::field_bytes", none, "-1"
    if re.fullmatch(r"text\[\d+\]", field.kind):
        return "kind::field_text", none, "-1"
    word, _, name = field.kind.partition(":")
    if word == "arr":
        return "kind::field_array", *element_kind(name, member, index)
    if word == "ptr[]":
        return "kind::field_pointer_list", *element_kind(name, member, index)
    if word in ("enum", "handle", "struct"):
        kind, type_index = element_kind(name, member, index)
        return kind, none, type_index
    return f"scalar_kind<decltype({member})>()", none, "-1"


def element_kind(name: str, member: str, index) -> tuple[str, str]:
    if index.is_handle(name):
        return f"handle_kind<{index.stored_type(name)}>", f"class_{name}"
    if index.is_struct(name):
        return "kind::structure", f"class_{name}"
    if name in index.enums:
        return "kind::enumeration", f"enum_{name}"
    if name == "voidp":
        return "kind::u64", "-1"
    return f"scalar_kind<element_of<decltype(({member}))>>()", "-1"
