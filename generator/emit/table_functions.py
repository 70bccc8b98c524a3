# SPDX-License-Identifier: Apache-2.0
"""Records of functions: C parameters, Python arguments, names in the module."""

from __future__ import annotations

from ..descriptions import phrases_of, status_check_text
from ..model import Function, Library
from .packed_texts import PackedTexts
from .table_index import Index
from .table_params import Positions, param_record, returned_struct_record
from .table_rows import Rows


def all_params(function: Function, index: Index) -> list[str]:
    positions = Positions(function)
    records = [param_record(p, positions, index) for p in function.params]
    return [*records, *returned_struct_record(function, index)]


class FunctionRows:
    """Rows that function records refer to: parameters, thunks, handwritten steps."""

    def __init__(self):
        self.params = Rows("const param", "params")
        self.phrases = Rows("const table_text", "phrases")
        self.thunks = Rows("const thunk", "thunks")
        self.handwritten = Rows("const handwritten_steps* const", "handwritten_table")
        self.handwritten.once("", "&handwritten::nothing")

    def source(self) -> str:
        parts = (self.params, self.phrases, self.thunks, self.handwritten)
        return "".join(rows.source() for rows in parts)


def function_record(library: Library, function: Function, index: Index, rows: FunctionRows) -> str:
    params = all_params(function, index)
    names = [p.partition("=")[0] for p in function.py]
    required = sum("=" not in p for p in function.py)
    c_type = f"{function.ret}({', '.join(p.c_type for p in function.params)})"
    thunk = rows.thunks.once(c_type, f"{caller(function)}::call")
    body = rows.handwritten.once(function.body or "", f"&handwritten::{function.body}")
    slot = f"offsetof(halfwarp::driver::{library.table}_table, {function.name}) / sizeof(void*)"
    return (
        f"{{{index.texts(message_name(library, function))}, {index.texts(joined(names))}, "
        f"{rows.params.block(function.name, params)}, {thunk},\n   {slot},\n"
        f"   {body}, {len(params)}, {len(names)}, {required}, {len(function.returns)}, "
        f"{' | '.join(function_flags(library, function))}{size_function(function, index)}}}"
    )


def caller(function: Function) -> str:
    """The caller of a function, by its type in the header; a hidden function spells its type."""
    if "hidden" in function.flags:
        types = ", ".join(p.c_type for p in function.params)
        return f"caller<{function.ret} (*)({types})>"
    return f"caller<decltype(&::{function.name})>"


def message_name(library: Library, function: Function) -> str:
    """The name of a function in messages; short names include the module."""
    return f"{library.module}.{function.python_name}" if library.raises else function.name


def size_function(function: Function, index: Index) -> str:
    """The index of the function that returns the number of bytes this one writes."""
    places = {f.name: i for i, f in enumerate(index.functions)}
    return f", {places[function.size_function]}" if function.size_function else ""


def joined(names: list[str]) -> str:
    return "\0".join(names)


def function_flags(library: Library, function: Function) -> list[str]:
    flags = ["releases_gil"] if function.releases_gil else []
    flags += ["is_brief"] if function.is_brief else []
    flags += ["is_submission"] if function.is_submission else []
    flags += ["calls_back"] if function.calls_back else []
    flags += ["passes_gate"] if function.is_gated else []
    if any(p.kind.row.is_late for p in function.params):
        flags.append("second_pass")
    if function.ret.endswith("*"):
        flags.append("returns_text")
    elif not function.returns_code:
        flags.append("returns_number")
    elif library.raises and function.ret != library.decisions.result_type:
        flags.append("returns_nothing" if function.ret == "void" else "returns_number")
    return flags or ["{}"]


def functions_table(library: Library, index: Index) -> str:
    rows = FunctionRows()
    lines = "".join(f"  {function_record(library, f, index, rows)},\n" for f in index.functions)
    for function in index.functions:
        sentences = map(index.texts, phrases_of(function).values())
        rows.phrases.block(function.name, [*sentences])
    return (
        f"{rows.source()}constexpr function functions[] = {{\n{lines}}};\n"
        f"static_assert({arity_checks(index)});\n"
    )


def arity_checks(index: Index) -> str:
    """Checks that records have as many parameters as the C functions."""
    checks = (f"{caller(f)}::arity == {len(all_params(f, index))}" for f in index.functions)
    return " &&\n              ".join(checks)


def methods_table(library: Library, index: Index) -> str:
    """The functions of the module by name, which are looked up on first use."""
    shown = [(i, name, f) for i, f in enumerate(index.functions) for name in names_of(f)]
    rows = {name: method(library, name, f, i, index.texts) for i, name, f in shown}
    rows |= {
        name: status_check(library, name, index.texts) for name in library.decisions.status_checks
    }
    lines = "".join(f"  {row},\n" for _, (row, _) in sorted(rows.items()))
    entries = "".join(f"  {entry},\n" for _, (_, entry) in sorted(rows.items()))
    return (
        f"const method_record {library.name}_methods[] = {{\n{lines}}};\n"
        f"const PyCFunction {library.name}_entries[] = {{\n{entries}}};\n"
    )


def names_of(function: Function) -> list[str]:
    """The names of a function in the module, the aliases last."""
    return [function.python_name, *function.aliases]


def status_check(library: Library, name: str, texts: PackedTexts) -> tuple[str, str]:
    """A function that raises the exception of a status."""
    doc = f"{name}(status)\n--\n\n{status_check_text(name)}"
    return f"{{{texts(name)}, {texts(doc)}}}", f"module_{name}<{library.name}_library>"


def method(
    library: Library, name: str, function: Function, place: int, texts: PackedTexts
) -> tuple[str, str]:
    """The row of a name in the module, and the C function that implements it."""
    owner = f"{library.name}_library"
    if not function.is_hot or function.body:
        entry = f"entry<{owner}, {place}>"
    elif library.raises and not library.is_face:
        entry = f"shared_entry<{owner}, {place}>"
    else:
        entry = f"specialized_entry<{owner}, {place}, {caller(function)}>"
    text, returned = function.own_doc or function.sentence, function.returned
    texts_of_doc = f"{texts(text)}, {texts('' if function.own_doc else returned)}"
    record = f"{{{texts(name)}, {texts_of_doc}, {place}}}"
    return record, f"(PyCFunction)(void (*)()){entry}"
