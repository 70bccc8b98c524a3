# SPDX-License-Identifier: Apache-2.0
"""Kinds of parameters, of struct fields and of attribute values, with one row of properties each.

Resolution derives kinds from roles and C types, or from the words of a decision. Engine tables,
stubs, declarations and pages use the rows. README.md explains the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

INTEGER = "SupportsIndex"
LISTED = "list[Any] | tuple[Any, ...]"
COLOR = "float | list[float] | tuple[float, ...]"


@dataclass(frozen=True)
class Kind:
    direction: str  # "in", "inout", "out"; "none": not visible in Python; "field"; "value"
    shape: str = "number"
    element: str = ""  # class, enumeration or number of the shape; a length
    aux: str = ""  # C name of the count, size or attribute parameter that this one depends on

    @cached_property
    def row(self) -> Row:
        return ROWS[self.direction, self.shape]

    @property
    def is_argument(self) -> bool:
        """Whether the parameter is a Python argument."""
        return self.direction in ("in", "inout") and self.shape != "attrsize"

    @property
    def is_returned(self) -> bool:
        return self.direction in ("out", "inout")

    def is_a(self, direction: str, *shapes: str) -> bool:
        return self.direction == direction and self.shape in shapes

    def __str__(self) -> str:
        return self.row.words.format(element=self.element, aux=self.aux)

    @classmethod
    def read(cls, direction: str, words: str) -> Kind:
        """The kind of a field or a value, from its words in a decision."""
        for way, shape in ROWS:
            if way == direction and (element := ROWS[way, shape].element_in(words)) is not None:
                return cls(direction, shape, element)
        raise ValueError(f"{words!r} is no kind of a {direction}")


@dataclass(frozen=True)
class Row:
    """Properties of a kind. `{element}` is its element; empty ones depend on the C type."""

    words: str  # spelling in README.md and in the facts about the reference
    cpp: str = ""  # members of the C++ enumeration `kind`; the C type selects one
    index: str = "-1"  # C++ expression of the class, enumeration, attribute table or length
    stub: str = ""  # type in a .pyi
    pxd: str = ""  # C type in a .pxd, if functions raise; empty: an object
    role: str = ""  # in a .api file, if the role alone determines the kind
    is_late: bool = False  # converted after all other parameters

    def element_in(self, words: str) -> str | None:
        """The element in words that match this row; None if they do not."""
        head, gap, tail = self.words.partition("{element}")
        match = re.fullmatch(f"{re.escape(head)}({'.+' if gap else ''}){re.escape(tail)}", words)
        return match and match[1]


NUMBERS = "i8 u8 i16 u16 i32 u32 i64 u64 f32 f64"
NUMBERS_OUT = "out_i32 out_u32 out_i64 out_u64 out_f32 out_f64 out_bool"
HANDLES, SHORT_LISTS = "handle32 handle64", "short_list_handle32 short_list_handle64"
LISTS = (
    "list_i32 list_u32 list_u64 list_enumeration list_handle32 list_handle64 list_structure "
    "list_text list_address"
)
LISTS_OUT = "out_list_i32 out_list_u32 out_list_handle out_list_structure"
CALLEE_LISTS = "out_callee_handles out_callee_structures"
ARRAY = "std::int16_t(array_kind<{element}>())"
ENUM, CLASS, TABLE = "enum_{element}", "class_{element}", "attributes_{element}"
ROWS = {
    ("in", "number"): Row("in", NUMBERS, pxd="number"),
    ("in", "enum"): Row("in:enum:{element}", "enumeration", ENUM, "{home} | int"),
    ("in", "handle"): Row("in:handle:{element}", HANDLES, CLASS),
    ("in", "struct"): Row("in:struct:{element}", "structure_value", CLASS, "{home}"),
    ("in", "struct*"): Row("in:struct*:{element}", "structure", CLASS, "{home} | None"),
    ("in", "ptr"): Row("in:ptr:{element}", "handle_pointer", CLASS),
    ("in", "voidp"): Row("in:voidp", "address", stub="_Address"),
    ("in", "bytes"): Row("in:bytes", "text text_output", pxd="bytes"),
    ("in", "kparams"): Row(
        "in:kparams", "kernel_params", stub="_KernelParams", role="kernel_params"
    ),
    ("in", "rawptr"): Row("in:rawptr", "raw_pointer", stub=INTEGER, role="address"),
    ("in", "callback"): Row("in:callback", HANDLES, role="callback"),
    ("in", "callback_data"): Row(
        "in:callback_data", "address", stub="_Address", role="callback_data"
    ),
    ("in", "float*"): Row("in:float*", "color", stub=COLOR, role="in float"),
    ("in", "attr"): Row("in:attr:{element}", "attribute_value", TABLE, "Any", is_late=True),
    ("in", "attrlist"): Row(
        "in:attrlist:{element}", "attribute_options", TABLE, f"{LISTED} | None", is_late=True
    ),
    ("in", "attrsize"): Row("in:attrsize", "attribute_size", role="attrsize"),
    ("in", "list"): Row("in:list:{element}", LISTS, is_late=True),
    ("in", "list5"): Row("in:list5:{element}", SHORT_LISTS, CLASS),
    # passed by address, and returned
    ("inout", "iterator"): Row("inout:iterator:{element}", "iterator", CLASS, "{home} | None"),
    ("inout", "count"): Row("inout:count", "in_out_count", stub="int", role="count"),
    ("inout", "number"): Row(
        "inout:{element}", "in_out_u32 in_out_u64", stub=INTEGER, pxd="number"
    ),
    ("inout", "int"): Row("inout:int", "in_out_i32", stub=INTEGER, pxd="int"),
    ("inout", "enum"): Row("inout:enum:{element}", "in_out_enumeration", ENUM, "{home} | int"),
    # returned
    ("out", "number"): Row("out", NUMBERS_OUT, pxd="number"),
    ("out", "enum"): Row("out:enum:{element}", "out_enumeration", ENUM),
    ("out", "object"): Row("out:{element}", "out_handle out_structure", CLASS),
    ("out", "voidp"): Row("out:voidp", "out_address", stub="int"),
    ("out", "cstr"): Row("out:cstr", "out_text", stub="bytes"),
    ("out", "list"): Row("out:list:{element}[{aux}]", LISTS_OUT, is_late=True),
    ("out", "vector"): Row(
        "out:list:vector", "out_list_i32", stub="list[int]", role="out vector", is_late=True
    ),
    ("out", "callee list"): Row("out:list(callee):{element}", CALLEE_LISTS, CLASS, is_late=True),
    ("out", "charbuf"): Row("out:charbuf:length", "out_buffer", stub="bytes", is_late=True),
    ("out", "bytes"): Row("out:bytes[{element}]", "out_bytes", "{element}", "bytes"),
    ("out", "attr"): Row("out:attr:{element}", "out_attribute", TABLE, "Any", is_late=True),
    ("out", "attrlist"): Row(
        "out:attrlist:{element}", "out_attribute_list", TABLE, "list[Any]", is_late=True
    ),
    ("out", "via int"): Row(
        "out:int(via void*)", "out_i32", stub="int", pxd="int", role="out address"
    ),
    ("out", "via address"): Row(
        "out:void_ptr(via void*)", "out_address", stub="int", role="out pointer"
    ),
    # for libraries whose functions raise
    ("in", "int"): Row("in:int", "enumeration", stub=INTEGER, pxd="int"),
    ("in", "intptr"): Row("in:intptr", "plain_handle", stub=INTEGER, pxd="intptr_t"),
    ("in", "intptr*"): Row("in:intptr*", "value_by_address", stub=INTEGER, pxd="intptr_t"),
    ("in", "nonnull"): Row(
        "in:nonnull", "present_handle", stub=INTEGER, pxd="intptr_t", is_late=True
    ),
    ("in", "str"): Row("in:str", "name", stub="str"),
    ("in", "options"): Row("in:options", "options", stub="_Options", is_late=True),
    ("in", "buffer"): Row("in:buffer", "input_buffer", stub="_Address", is_late=True),
    ("in", "buffer*"): Row("in:buffer*", "output_buffer", stub="_Address", is_late=True),
    ("in", "or_zero"): Row("in:or_zero", "u32_or_zero", stub=INTEGER, pxd="number"),
    ("in", "data"): Row(
        "in:data:{element}", "numpy_struct", CLASS, f"{{element}} | {INTEGER} | None"
    ),
    ("in", "object"): Row("in:object:{element}", "numpy_struct_object", CLASS, "{element}"),
    ("none", "fixed"): Row("const:{element}", "fixed", "{element}"),
    ("none", "capacity"): Row("count:{element}", "capacity_of_output", "{element}"),
    ("none", "length"): Row("length", "length_of_numpy_struct", is_late=True),
    ("none", "count"): Row("count", "count_of_output"),
    ("none", "assembled"): Row("set:assembled", "assembled"),
    ("out", "int"): Row("out:int", "out_i32", stub="int", pxd="int"),
    ("out", "intptr"): Row("out:intptr", "out_i64", stub="int", pxd="intptr_t"),
    ("out", "str"): Row("out:str", "out_name", stub="str"),
    ("out", "fixed str"): Row("out:str[{element}]", "out_fixed_text", "{element}", "str"),
    ("out", "count"): Row("out:count", "out_count", stub="int"),
    ("out", "data"): Row("out:data:{element}", "out_numpy_struct", CLASS, "{element}"),
    ("out", "array"): Row("out:array:{element}", "out_numbers out_structures", is_late=True),
    ("out", "counted_text"): Row("out:counted_text", "out_counted_text", stub="str", is_late=True),
    ("out", "assembled"): Row("out:assembled", "out_assembled"),
    # for further faces
    ("in", "optional bytes"): Row(
        "in:bytes|None",
        "optional_text",
        stub="builtins.bytes | bytearray | None",
        role="optional bytes",
    ),
    ("in", "handles"): Row(
        "in:handles[{aux}]",
        "sequence_u64",
        stub="Sequence[int] | SupportsIndex | None",
        is_late=True,
    ),
    ("in", "sizes"): Row("in:sizes[{aux}]", "sequence_u64", stub="Sequence[int]", is_late=True),
    ("in", "enumerators"): Row(
        "in:enumerators[{aux}]", "sequence_i32", stub="Sequence[int]", is_late=True
    ),
    ("in", "items"): Row(
        "in:items:{element}", "items", "sizeof({element})", "Buffer", is_late=True
    ),
    ("in", "texts"): Row("in:texts", "texts", stub="Sequence[builtins.bytes] | None", is_late=True),
    ("in", "data list"): Row(
        "in:list:data:{element}",
        "numpy_struct_list",
        CLASS,
        f"{{element}} | {INTEGER} | None",
        is_late=True,
    ),
    ("in", "source"): Row("in:source[{aux}]", "source_buffer", stub="_Address", is_late=True),
    ("in", "destination"): Row(
        "in:destination[{aux}]", "destination_buffer", stub="_Address", is_late=True
    ),
    ("none", "list length"): Row("length:{aux}", "length_of_list", is_late=True),
    ("none", "queried"): Row("count:queried", "queried_count"),
    ("out", "queried array"): Row(
        "out:queried array:{element}", "out_queried_numbers", ARRAY, "_Numbers"
    ),
    ("out", "queried bytes"): Row("out:bytes", "out_queried_bytes", stub="builtins.bytes"),
    ("out", "callee bytes"): Row("out:bytes(callee)", "out_callee_bytes", stub="builtins.bytes"),
    ("out", "callee array"): Row(
        "out:ndarray(callee):{element}",
        "out_callee_numbers out_callee_numpy_structs",
        stub="_Numbers",
    ),
    ("out", "c bytes"): Row("out:c bytes", "out_c_bytes", stub="builtins.bytes"),
    ("out", "floats"): Row("out:list:float[{element}]", "out_floats", "{element}", "list[float]"),
    # for struct fields; most engine kinds are shared with parameters
    ("field", "enum"): Row("enum:{element}", "enumeration", ENUM),
    ("field", "handle"): Row("handle:{element}", HANDLES, CLASS),
    ("field", "struct"): Row("struct:{element}", "structure", CLASS),
    ("field", "voidp"): Row("voidp", "address"),
    ("field", "void**"): Row("void_ptr", "address"),
    ("field", "kparams"): Row("kparams", "kernel_params"),
    ("field", "array"): Row("arr:{element}", "field_array"),
    ("field", "text"): Row("text[{element}]", "field_text", stub="builtins.bytes"),
    ("field", "bytes"): Row("bytes[{element}]", "field_bytes", stub="builtins.bytes"),
    ("field", "list"): Row("ptr[]:{element}", "field_pointer_list"),
    ("field", "number"): Row("{element}", NUMBERS),
    # for attribute values; VALUES has values without a class
    ("value", "enum"): Row("enum:{element}", "enumeration", ENUM),
    ("value", "handle"): Row("handle:{element}", "handle", CLASS),
    ("value", "struct"): Row("struct:{element}", "structure", CLASS),
    ("value", "data"): Row("data:{element}", "numpy_struct", CLASS),
    ("value", "plain"): Row("{element}"),
}
ROLES = {row.role: Kind(*key) for key, row in ROWS.items() if row.role}


@dataclass(frozen=True)
class Value:
    """An attribute value without a class."""

    cpp: str  # member of the C++ enumeration `value_kind`
    read_type: str = "int"
    accepted_type: str = INTEGER


VALUES = {
    "int": Value("i32"),
    "unsigned int": Value("u32"),
    "size_t": Value("u64"),
    "unsigned long long": Value("u64"),
    "bool": Value("boolean", "bool", "bool | int"),
    "float": Value("f32", "float", "float"),
    "address": Value("address", accepted_type="_Address"),
    "text": Value("text", "bytes", "bytes | bytearray"),
    "buffer": Value("text_buffer", "bytes", "Buffer"),
    "list:int": Value("list_i32", "list[int]", LISTED),
    "list:bytes": Value("list_text", "list[bytes]", LISTED),
    "list:address": Value("list_address", "list[int]", LISTED),
}


def engine_kinds() -> dict[str, list[str]]:
    """Member of the C++ enumeration `kind` -> words of its kinds, ordered by direction."""
    kinds: dict[str, list[str]] = {}
    for directions in (("in", "none"), ("inout",), ("out",)):
        for (direction, _), row in ROWS.items():
            for name in row.cpp.split() if direction in directions else ():
                kinds.setdefault(name, []).append(row.words.format(element="T", aux="n"))
    return kinds


def field_kinds() -> list[str]:
    """Further members of `kind`, used by fields only."""
    named = [n for (way, _), row in ROWS.items() if way == "field" for n in row.cpp.split()]
    return [n for n in dict.fromkeys(named) if n not in engine_kinds()]


def value_kinds() -> list[str]:
    """Members of the C++ enumeration `value_kind`."""
    classes = [row.cpp for (way, _), row in ROWS.items() if way == "value" and row.cpp]
    return [*dict.fromkeys(value.cpp for value in VALUES.values()), *classes]
