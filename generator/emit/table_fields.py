# SPDX-License-Identifier: Apache-2.0
"""C++ `field` records, one per member of a struct class."""

from __future__ import annotations

import re

from ..model import Field, Struct

# Padding, which the reference neither lists nor prints; the `pad` of a union sets its size.
HIDDEN = re.compile(r"(reserved|padding)\d*|unused")
ADDRESSES = ("voidp", "void**", "kparams")


class Children:
    """Numbers the fields that are read as views."""

    def __init__(self):
        self.count = 0

    def next(self) -> int:
        self.count += 1
        return self.count - 1


def is_hidden(field: Field, struct: Struct) -> bool:
    is_pad = field.name == "pad" and not struct.is_union
    return is_pad or HIDDEN.fullmatch(field.name) is not None


def flags_of(field: Field, struct: Struct) -> str:
    """C++ expression of the flags of a field."""
    is_void = field.c_type in ("void *", "const void *")
    flags = {
        "read_only": field.readonly,
        "is_hidden": is_hidden(field, struct),
        "is_joint": field.joint,
        "prints_as_number": field.kind.is_a("field", *ADDRESSES) and not is_void,
    }
    return " | ".join(flag for flag, applies in flags.items() if applies) or "{}"


def field_record(field: Field, struct: Struct, index, children: Children) -> str:
    c_type = f"{struct.name}_type"
    member = f"std::declval<{c_type}&>().{field.c_path}"
    kind, element, type_index = kinds_of(field, member, index)
    child = children.next() if kind == "kind::structure" else 0
    flags = flags_of(field, struct)
    return (
        f"{{{index.texts(field.name)}, {kind}, {flags}, {element}, {child}, {type_index},\n"
        f"   offsetof({c_type}, {field.c_path}), sizeof({member})}}"
    )


def kinds_of(field: Field, member: str, index) -> tuple[str, str, str]:
    """C++ expressions: kind of a field, kind of its elements, class or enumeration."""
    none = "kind::i8"
    shape, element = field.kind.shape, field.kind.element
    if shape in ("array", "list"):
        return f"kind::{field.kind.row.cpp}", *element_kind(element, member, index)
    if shape in ("enum", "handle", "struct"):
        kind, type_index = element_kind(element, member, index)
        return kind, none, type_index
    if shape == "number":
        return f"scalar_kind<decltype({member})>()", none, "-1"
    return f"kind::{field.kind.row.cpp}", none, "-1"


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
