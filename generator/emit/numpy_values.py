# SPDX-License-Identifier: Apache-2.0
"""C types and annotations of values of NumPy structs: fields, arguments, results."""

from __future__ import annotations

from ..model import Function, Library, NumpyField, Param

FLOATS = ("float", "double")
LETTERS = {
    "unsigned char": "B",
    "char": "b",
    "unsigned short": "H",
    "int": "i",
    "unsigned int": "I",
    "long": "l",
    "unsigned long": "L",
    "size_t": "Q",
    "long long": "q",
    "unsigned long long": "Q",
}


def assembled_fields(library: Library, function: Function) -> dict[str, NumpyField]:
    """Map arguments to the fields of an assembled struct that they set."""
    types = {t.name: t for t in library.numpy_structs}
    return {
        name: types[p.assembly.numpy_struct].fields[field]
        for p in function.params
        if p.assembly
        for field, name in p.assembly.inputs
    }


def result_field(library: Library, param: Param) -> NumpyField | None:
    """The field of an assembled struct that is returned; None if the struct is returned."""
    if not param.assembly or param.assembly.output < 0:
        return None
    types = {t.name: t for t in library.numpy_structs}
    return types[param.assembly.numpy_struct].fields[param.assembly.output]


def c_type(library: Library, field: NumpyField) -> str:
    """The C type of a field's value; empty if it is an object in Python."""
    if field.form == "address":
        return "intptr_t"
    if field.form != "number":
        return ""
    return "int" if field.enum else plain(library, field.target)


def plain(library: Library, name: str) -> str:
    """The number behind a typedef."""
    targets = {t.name: t.c_type for t in library.typedefs} | library.decisions.spelled
    while name in targets:
        name = targets[name]
    return name


def annotation(field: NumpyField) -> str:
    """The Python type of a field."""
    words = {"text": "str", "text_pointer": "str", "bytes": "bytes", "address": "int"}
    if field.form == "number":
        return "float" if field.target in FLOATS else "int"
    if field.form.startswith("structure"):
        return field.target
    return words.get(field.form, "array")


def array_letter(library: Library, name: str) -> str:
    """The `struct` format letter of the elements of an array."""
    base = plain(library, name)
    if any(e.c_name == base for e in library.enums):
        return "I"
    return LETTERS.get(base, "P")


def result_annotation(library: Library, param: Param) -> str | None:
    """The Python type of an output of NumPy structs; None for other outputs."""
    shape, name = param.kind.shape, param.kind.element
    if param.assembly:
        field = result_field(library, param)
        return annotation(field) if field else param.assembly.numpy_struct
    if shape == "array":
        return name if any(t.name == name for t in library.numpy_structs) else "array"
    is_own = shape in ("counted_text", "count", "data")
    return param.kind.row.stub.format(element=name) if is_own else None


def result_word(library: Library, param: Param) -> str | None:
    """The type of an output, spelled like the facts about the reference: `array:I` and so on."""
    word = result_annotation(library, param)
    if word == "array" and param.kind.shape == "array":
        return f"array:{array_letter(library, param.kind.element)}"
    field = result_field(library, param)
    return (c_type(library, field) or word) if field else word
