# SPDX-License-Identifier: Apache-2.0
"""Records of NumPy structs, and of structs built from arguments of a call."""

from __future__ import annotations

from ..model import Assembly, Library, NumpyField, NumpyStruct
from .packed_texts import PackedTexts
from .table_text import dotted


def fields_block(numpy_struct: NumpyStruct, index) -> str:
    places = {f.name: i for i, f in enumerate(numpy_struct.fields)}
    rows = "".join(f"  {field_row(f, places, index)},\n" for f in numpy_struct.fields)
    dtype = index.texts(numpy_struct.dtype or "")
    is_array = "true" if numpy_struct.is_array else "false"
    return (
        f"namespace {numpy_struct.name}_numpy {{\nusing T = {numpy_struct.c_type};\n"
        f"constexpr numpy_field fields[] = {{\n{rows}}};\n"
        f"constexpr numpy_record record = {{fields, sizeof(T), {is_array}, {dtype}}};\n}}\n"
    )


def field_row(field: NumpyField, places: dict[str, int], index) -> str:
    member = f"T::{field.c_path}"
    flags = ("true" if flag else "false" for flag in (field.is_hidden, field.is_array))
    place = f"class_{field.target}" if field.form.startswith("structure") else "-1"
    counter = places[field.counter] if field.counter else -1
    element = f"std::remove_all_extents_t<decltype({member})>"
    size = f"sizeof({element})"
    count = f"sizeof({member}) / {size}" if field.is_array or field.form == "bytes" else "1"
    if field.form == "bytes":
        size, count = "1", f"sizeof({member})"
    return (
        f"{{{index.texts(field.name)}, form::{field.form}, {element_kind(field, element)}, "
        f"{', '.join(flags)}, {place}, {counter},\n"
        f"   offsetof(T, {field.c_path}), {size}, {count}}}"
    )


def element_kind(field: NumpyField, element: str) -> str:
    if field.form == "number_list":
        return f"scalar_kind<{field.target}>()"
    if field.form == "address":
        return "kind::i64"
    if field.form not in ("number", "numbers"):
        return "kind::i8"
    return "kind::i32" if field.enum else f"scalar_kind<{element}>()"


def class_record(library: Library, numpy_struct: NumpyStruct, texts: PackedTexts) -> str:
    return (
        f"{{{texts(dotted(library, numpy_struct.name))}, 0, 0, -1, 0, "
        f"alignof({numpy_struct.name}_numpy::T), {{}}, false, 0, 0,\n   "
        f"{texts(class_doc(numpy_struct))}, &{numpy_struct.name}_numpy::record}}"
    )


def class_doc(numpy_struct: NumpyStruct) -> str:
    """The text signature of the constructor, then a description of the class."""
    if numpy_struct.is_array:
        text = "An array of `size` structs of the C API, zeroed; fields are columns and keywords."
        return f"{numpy_struct.name}(size=1, **fields)\n--\n\n{text}"
    text = "A struct of the C API, zeroed; fields are keywords."
    return f"{numpy_struct.name}(**fields)\n--\n\n{text}"


def assemblies_table(library: Library, index) -> str:
    """The assemblies, each followed by the one for older drivers, if any."""
    rows = [
        row
        for f in index.functions
        for p in f.params
        if p.assembly
        for row in assembly_rows(p.assembly, index)
    ]
    if not rows:
        return "constexpr std::span<const assembly> assemblies;\n"
    inputs = "".join(
        inputs_block(p.assembly, f, index)
        for f in index.functions
        for p in f.params
        if p.assembly and p.assembly.inputs
    )
    lines = "".join(f"  {row},\n" for row in rows)
    return f"{inputs}constexpr assembly assemblies[] = {{\n{lines}}};\n"


def inputs_block(assembly: Assembly, function, index) -> str:
    positions = {p.partition("=")[0]: i for i, p in enumerate(function.py)}
    rows = ", ".join(f"{{{field}, {positions[name]}}}" for field, name in assembly.inputs)
    return f"constexpr assembly_input inputs_{index.assembly(assembly)}[] = {{{rows}}};\n"


def assembly_rows(assembly: Assembly, index) -> list[str]:
    place = index.assembly(assembly)
    inputs = f"inputs_{place}" if assembly.inputs else "{}"
    plain = "true" if is_plain(assembly, index.numpy_structs[assembly.numpy_struct]) else "false"
    rows = [
        f"{{{record_and_class(assembly.numpy_struct)}, {assembly.version}, {assembly.output}, "
        f"{assembly.counted}, {plain}, {inputs}}}"
    ]
    if assembly.older:
        version = assembly.older.rpartition("_v")[2]
        rows.append(f"{{{record_and_class(assembly.older)}, {version}, -1, -1, false, {{}}}}")
    return rows


def record_and_class(numpy_struct: str) -> str:
    return f"&{numpy_struct}_numpy::record, class_{numpy_struct}"


def is_plain(assembly: Assembly, numpy_struct: NumpyStruct) -> bool:
    """Whether all inputs are numbers, and the output is a number or a text."""
    forms = [f.form for f in numpy_struct.fields]
    gives = assembly.output >= 0 and forms[assembly.output] in ("number", "text")
    return (
        gives
        and not numpy_struct.is_array
        and all(forms[field] == "number" for field, _ in assembly.inputs)
    )
