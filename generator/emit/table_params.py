# SPDX-License-Identifier: Apache-2.0
"""One C++ `param` record per C parameter: kind, place in the Python call, what it depends on."""

from __future__ import annotations

import re

from ..model import Function, Param

# kinds of the model whose record needs nothing else
PLAIN = {
    "in:voidp": "address",
    "in:callback_data": "address",
    "in:kparams": "kernel_params",
    "in:rawptr": "raw_pointer",
    "in:float*": "colour",
    "in:attrsize": "attribute_size",
    "inout:count": "in_out_count",
    "inout:unsigned int": "in_out_u32",
    "inout:size_t": "in_out_u64",
    "out:voidp": "out_address",
    "out:cstr": "out_text",
    "out:int(via void*)": "out_i32",
    # of libraries whose functions raise
    "in:int": "enumeration",
    "in:intptr": "plain_handle",
    "in:intptr*": "value_by_address",
    "in:nonnull": "present_handle",
    "in:str": "name",
    "in:options": "options",
    "in:buffer": "input_buffer",
    "in:buffer*": "output_buffer",
    "out:int": "out_i32",
    "out:intptr": "out_i64",
    "out:str": "out_name",
    # of data types
    "count": "count_of_output",
    "length": "length_of_data",
    "in:or_zero": "u32_or_zero",
    "out:count": "out_count",
    "out:counted_text": "out_counted_text",
    "out:void_ptr(via void*)": "out_address",
}
WITH_NUMBER = {"const:": "fixed", "count:": "room_of_output", "out:str[": "out_fixed_text"}
LIST_ELEMENTS = {
    "int": "list_i32",
    "unsigned int": "list_u32",
    "size_t": "list_u64",
    "bytes": "list_text",
    "voidp": "list_address",
}
OUTPUT_ELEMENTS = {
    "int": "out_list_i32",
    "vector": "out_list_i32",
    "unsigned int": "out_list_u32",
}


class Positions:
    """Where the parameters of a function stand, in C and in Python."""

    def __init__(self, function: Function):
        self.c = {p.c_name: i for i, p in enumerate(function.params)}
        self.python = {p.partition("=")[0]: i for i, p in enumerate(function.py)}
        self.params = function.params

    def in_python(self, param: Param) -> int:
        is_given = param.kind.startswith("in") and param.kind != "in:attrsize"
        return self.python[param.name] if is_given and param.name in self.python else -1

    def following(self, param: Param) -> Param | None:
        i = self.c[param.c_name] + 1
        return self.params[i] if i < len(self.params) else None


def param_record(param: Param, positions: Positions, index) -> str:
    kind, type_index = kind_of(param, index)
    aux = positions.c[param.aux] if param.aux else -1
    size = size_position(param, positions)
    optional = param.kind.removeprefix("in:list:") in index.library.decisions.optional_lists
    parts = [kind, str(positions.in_python(param)), type_index]
    parts += [str(aux)] if aux >= 0 or size >= 0 or optional else []
    parts += [str(size)] if size >= 0 or optional else []
    parts += ["optional_list"] if optional else []
    return "{" + ", ".join(parts) + "}"


def returned_struct_record(function: Function, index) -> list[str]:
    """A struct that the function returns by value: written by the thunk like one more output."""
    if function.ret not in index.structs:
        return []
    return [f"{{kind::out_structure, -1, class_{function.ret}}}"]


def size_position(param: Param, positions: Positions) -> int:
    """C position of the parameter that holds the size of an attribute's value: the next one."""
    following = positions.following(param)
    if not re.match(r"(in|out):attr(list)?:", param.kind) or following is None:
        return -1
    is_size = following.kind == "in:attrsize" or (
        param.kind.startswith("out") and following.kind in ("in", "in:list:size_t")
    )
    return positions.c[following.c_name] if is_size else -1


def kind_of(param: Param, index) -> tuple[str, str]:
    """The C++ expressions of a parameter's kind and type."""
    if param.kind in PLAIN:
        return f"kind::{PLAIN[param.kind]}", "-1"
    if param.kind == "in":
        return f"scalar_kind<{param.c_type}>()", "-1"
    if param.kind == "out" and pointed_to(param.c_type) == "bool":
        return "kind::out_bool", "-1"
    if param.kind == "out":
        return f"scalar_output_kind<{pointed_to(param.c_type)}>()", "-1"
    if param.kind == "in:bytes":
        return f"kind::{'text' if param.c_type.startswith('const') else 'text_output'}", "-1"
    if param.kind == "in:callback":
        return "kind::handle64", f"class_{param.c_type}"
    if param.assembly:
        kind = "out_assembled" if param.kind.startswith("out") else "assembled"
        return f"kind::{kind}", str(index.assembly(param.assembly))
    if match := re.fullmatch(r"(in|out):(data|object|array):(.*)", param.kind):
        return data_kind(*match.groups(), index)
    if match := re.fullmatch(r"(const:|count:|out:str\[)(\d+)\]?", param.kind):
        return f"kind::{WITH_NUMBER[match[1]]}", match[2]
    way, _, rest = param.kind.partition(":")
    return (output_kind if way == "out" else input_kind)(way, rest, index)


def data_kind(way: str, word: str, name: str, index) -> tuple[str, str]:
    """Kinds of data types, and of arrays of them or of numbers."""
    if word == "array" and name not in index.data_types:
        return "kind::out_numbers", f"std::int16_t(array_kind<{name}>())"
    kinds = {"data": "data", "object": "data_object", "array": "structures"}
    return f"kind::{'out_' if way == 'out' else ''}{kinds[word]}", f"class_{name}"


def pointed_to(c_type: str) -> str:
    return c_type.removesuffix("*").strip()


def input_kind(way: str, rest: str, index) -> tuple[str, str]:
    word, _, name = rest.partition(":")
    if way == "inout":
        kinds = {"enum": f"in_out_enumeration, enum_{name}", "iterator": f"iterator, class_{name}"}
        return split(f"kind::{kinds[word]}")
    if word == "list":
        return list_kind(name, index)
    if word == "handle":
        return f"handle_kind<{index.stored_type(name)}>", f"class_{name}"
    if word == "list5":
        return f"short_list_kind<{index.stored_type(name)}>", f"class_{name}"
    kinds = {
        "enum": f"enumeration, enum_{name}",
        "struct": f"structure_value, class_{name}",
        "struct*": f"structure, class_{name}",
        "ptr": f"handle_pointer, class_{name}",
        "attr": f"attribute_value, attributes_{name}",
        "attrlist": f"attribute_options, attributes_{name}",
    }
    return split(f"kind::{kinds[word]}")


def split(pair: str) -> tuple[str, str]:
    kind, _, type_index = pair.partition(", ")
    return kind, type_index


def list_kind(element: str, index) -> tuple[str, str]:
    if element in LIST_ELEMENTS:
        return f"kind::{LIST_ELEMENTS[element]}", "-1"
    if index.is_handle(element):
        return f"handle_list_kind<{index.stored_type(element)}>", f"class_{element}"
    if index.is_struct(element):
        return "kind::list_structure", f"class_{element}"
    return "kind::list_enumeration", f"enum_{element}"


def output_kind(_way: str, rest: str, index) -> tuple[str, str]:
    word, _, name = rest.partition(":")
    if word == "list":
        element = name.partition("[")[0]
        if element in OUTPUT_ELEMENTS:
            return f"kind::{OUTPUT_ELEMENTS[element]}", "-1"
        return f"kind::out_list_{class_word(element, index)}", f"class_{element}"
    if word == "list(callee)":
        return f"kind::out_callee_{class_word(name, index)}s", f"class_{name}"
    if match := re.fullmatch(r"bytes\[(\d+)\]", word):
        return "kind::out_bytes", match[1]
    kinds = {
        "enum": f"out_enumeration, enum_{name}",
        "charbuf": "out_buffer, -1",
        "attr": f"out_attribute, attributes_{name}",
        "attrlist": f"out_attribute_list, attributes_{name}",
    }
    if word in kinds:
        return split(f"kind::{kinds[word]}")
    return f"kind::out_{class_word(word, index)}", f"class_{word}"


def class_word(name: str, index) -> str:
    if index.is_handle(name):
        return "handle"
    if index.is_struct(name):
        return "structure"
    raise ValueError(f"no class of that name: {name}")
