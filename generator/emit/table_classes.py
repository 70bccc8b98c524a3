# SPDX-License-Identifier: Apache-2.0
"""Records of handle and struct classes, and of struct fields."""

from __future__ import annotations

from ..model import Handle, Library, Struct
from .table_fields import Children, field_record
from .table_index import Index
from .table_numpy_structs import class_record
from .table_rows import Rows
from .table_text import dotted, quoted


class ClassRows:
    """Rows that class records refer to: fields, and properties that few classes have."""

    def __init__(self):
        self.types: list[str] = []
        self.fields = Rows("const field", "fields")
        self.extras = Rows("const class_extras", "extras")
        self.extras.once("", "{}")

    def add_fields(self, struct: Struct, index: Index) -> int:
        """Add the fields of a struct. Returns the number of the first one."""
        children = Children()
        if struct.fields:
            self.types.append(
                f"using {struct.name}_type = std::remove_reference_t<{struct.c_type}>;\n"
            )
        rows = [field_record(f, struct, index, children) for f in struct.fields]
        return self.fields.block(struct.name, rows)

    def source(self) -> str:
        return "".join((*self.types, self.fields.source(), self.extras.source()))


def classes_table(library: Library, index: Index) -> str:
    rows = ClassRows()
    records = [handle_record(library, h, index, rows) for h in library.handles]
    records += [struct_record(library, s, index, rows) for s in library.structs]
    records += [class_record(library, t, index.texts) for t in library.numpy_structs]
    if not records:
        return (
            f"{rows.source()}constexpr std::span<const class_record> class_records;\n"
            "constexpr class_type* types = nullptr;\n"
        )
    lines = "".join(f"  {r},\n" for r in records)
    joint = "".join(joint_block(s) for s in library.structs if s.joint_lists)
    return (
        f"{joint}{rows.source()}constexpr class_record class_records[] = {{\n{lines}}};\n"
        f"class_type types[{len(records)}];\n"
    )


SHAPES = {
    "pointer": "A handle of the C API: an opaque pointer.",
    "function": "A C function pointer.",
    "integer": "An integer of the C API that names an object or an address.",
}


def handle_record(library: Library, handle: Handle, index: Index, rows: ClassRows) -> str:
    flags = ["is_handle"]
    flags += ["compares"] if handle.is_comparable else []
    flags += ["opaque"] if handle.shape != "integer" else []
    c_type = handle.c_type
    signed = f"std::is_signed_v<{c_type}>" if handle.shape == "integer" else "false"
    owner, base = index.reference(handle.base) if handle.base else ("nullptr", "-1")
    extras = rows.extras.once(owner if handle.base else "", f"{{nullptr, {owner}}}")
    return (
        f"{{{index.texts(dotted(library, handle.name))}, 0, 0, {base}, sizeof({c_type}), "
        f"alignof({c_type}), {' | '.join(flags)}, {signed}, 0, {extras},\n"
        f"   {index.texts(handle_doc(handle))}}}"
    )


def struct_record(library: Library, struct: Struct, index: Index, rows: ClassRows) -> str:
    fields = f"{rows.add_fields(struct, index)}, {len(struct.fields)}"
    base = f"class_{struct.base}" if struct.base else "-1"
    flags = "view_only" if struct.view_only else "{}"
    c_type = f"std::remove_reference_t<{struct.c_type}>"
    joint = f"&{struct.name}_joint" if struct.joint_lists else ""
    extras = rows.extras.once(joint, f"{{{joint}}}")
    return (
        f"{{{index.texts(dotted(library, struct.name))}, {fields}, {base}, sizeof({c_type}), "
        f"alignof({c_type}), {flags}, false, {index.children(struct)}, {extras},\n"
        f"   {index.texts(struct_doc(struct))}, nullptr, initial_value<{c_type}>()}}"
    )


def handle_doc(handle: Handle) -> str:
    """The text signature of the constructor, then a description of the class."""
    view = "`_ptr`: the address of a C value to view instead of holding one."
    return f"{handle.name}(init_value=0, _ptr=0)\n--\n\n{SHAPES[handle.shape]} {view}"


def struct_doc(struct: Struct) -> str:
    if struct.view_only:
        return "Part of another struct: a view of its memory."
    word = "union" if struct.is_union else "struct"
    text = (
        f"A {word} of the C API, zeroed; fields are keywords. `_ptr`: an address to view instead."
    )
    return f"{struct.name}(_ptr=0, **fields)\n--\n\n{text}"


def joint_block(struct: Struct) -> str:
    """Lists that share a count: the method that sets them together."""
    lists = ", ".join(map(quoted, struct.joint_lists))
    doc = (
        f"{struct.joint_method}($self, {', '.join(struct.joint_lists)})\\n--\\n\\n"
        f"Set the lists and `{struct.joint_count}`, which they share. Host only."
    )
    return (
        f"constexpr const char* {struct.name}_lists[] = {{{lists}}};\n"
        f'constexpr joint_lists {struct.name}_joint = {{{quoted(struct.joint_method)}, "{doc}",\n'
        f"  {quoted(struct.joint_count)}, {struct.name}_lists}};\n"
    )
