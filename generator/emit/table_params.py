# SPDX-License-Identifier: Apache-2.0
"""C++ `param` records, one per C parameter: kind, Python position, dependencies."""

from __future__ import annotations

from ..model import Function, Param

# element of a list without a class -> suffix of the C++ kind
ELEMENTS = {
    "int": "i32",
    "unsigned int": "u32",
    "size_t": "u64",
    "bytes": "text",
    "voidp": "address",
}


class Positions:
    """Positions of the parameters of a function, in C and in Python."""

    def __init__(self, function: Function):
        self.c = {p.c_name: i for i, p in enumerate(function.params)}
        self.python = {p.partition("=")[0]: i for i, p in enumerate(function.py)}
        self.params = function.params

    def in_python(self, param: Param) -> int:
        return self.python.get(param.name, -1) if param.kind.is_argument else -1

    def following(self, param: Param) -> Param | None:
        i = self.c[param.c_name] + 1
        return self.params[i] if i < len(self.params) else None


def param_record(param: Param, positions: Positions, index) -> str:
    kind, type_index = kind_of(param, index)
    aux = positions.c[param.aux] if param.aux else -1
    size = size_position(param, positions)
    is_list = param.kind.is_a("in", "list")
    optional = is_list and param.kind.element in index.library.decisions.optional_lists
    parts = [kind, str(positions.in_python(param)), type_index]
    parts += [str(aux)] if aux >= 0 or size >= 0 or optional else []
    parts += [str(size)] if size >= 0 or optional else []
    parts += ["optional_list"] if optional else []
    return "{" + ", ".join(parts) + "}"


def returned_struct_record(function: Function, index) -> list[str]:
    """The record of a struct returned by value; the thunk writes it like an output."""
    if function.ret not in index.structs:
        return []
    return [f"{{kind::out_structure, -1, class_{function.ret}}}"]


def size_position(param: Param, positions: Positions) -> int:
    """The C position of the size of an attribute's value, which is the next parameter."""
    following = positions.following(param)
    if param.kind.shape not in ("attr", "attrlist") or following is None:
        return -1
    is_size = following.c_type in ("size_t", "size_t *")
    return positions.c[following.c_name] if is_size else -1


def kind_of(param: Param, index) -> tuple[str, str]:
    """The C++ expressions of a parameter's kind and type, from its row or its C type."""
    row = param.kind.row
    if param.assembly:
        return f"kind::{row.cpp}", str(index.assembly(param.assembly))
    if " " not in row.cpp:
        return f"kind::{row.cpp}", row.index.format(element=param.kind.element)
    return BY_TYPE[param.kind.shape](param, index)


def number_kind(param: Param, _index) -> tuple[str, str]:
    number = param.c_type.removesuffix("*").strip()
    kinds = {
        "in": f"scalar_kind<{param.c_type}>()",
        "inout": f"kind::in_out_{ELEMENTS.get(param.kind.element)}",
        "out": "kind::out_bool" if number == "bool" else f"scalar_output_kind<{number}>()",
    }
    return kinds[param.kind.direction], "-1"


def callee_array_kind(param: Param, index) -> tuple[str, str]:
    kind, type_index = array_kind(param, index)
    has_structs = kind == "kind::out_structures"
    return f"kind::out_callee_{'numpy_structs' if has_structs else 'numbers'}", type_index


def text_kind(param: Param, _index) -> tuple[str, str]:
    return f"kind::{'text' if param.c_type.startswith('const') else 'text_output'}", "-1"


def handle_kind(param: Param, index) -> tuple[str, str]:
    name = param.kind.element
    word = "short_list_kind" if param.kind.shape == "list5" else "handle_kind"
    return f"{word}<{index.stored_type(name)}>", f"class_{name}"


def array_kind(param: Param, index) -> tuple[str, str]:
    """The kind of an array of NumPy structs or numbers."""
    name = param.kind.element
    if name in index.numpy_structs:
        return "kind::out_structures", f"class_{name}"
    return "kind::out_numbers", f"std::int16_t(array_kind<{name}>())"


def list_kind(param: Param, index) -> tuple[str, str]:
    name, is_output = param.kind.element, param.kind.direction == "out"
    if name in ELEMENTS:
        return f"kind::{'out_' if is_output else ''}list_{ELEMENTS[name]}", "-1"
    if is_output:
        return f"kind::out_list_{class_word(name, index)}", f"class_{name}"
    if index.is_handle(name):
        return f"handle_list_kind<{index.stored_type(name)}>", f"class_{name}"
    if index.is_struct(name):
        return "kind::list_structure", f"class_{name}"
    return "kind::list_enumeration", f"enum_{name}"


def output_kind(param: Param, index) -> tuple[str, str]:
    name = param.kind.element
    word = class_word(name, index)
    suffix = f"callee_{word}s" if param.kind.shape == "callee list" else word
    return f"kind::out_{suffix}", f"class_{name}"


def class_word(name: str, index) -> str:
    if index.is_handle(name):
        return "handle"
    if index.is_struct(name):
        return "structure"
    raise ValueError(f"no class of that name: {name}")


# Shapes whose C++ kind depends on the type.
BY_TYPE = {
    "number": number_kind,
    "bytes": text_kind,
    "callback": lambda param, _index: ("kind::handle64", f"class_{param.c_type}"),
    "handle": handle_kind,
    "list5": handle_kind,
    "list": list_kind,
    "array": array_kind,
    "callee array": callee_array_kind,
    "object": output_kind,
    "callee list": output_kind,
}
