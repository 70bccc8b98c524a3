# SPDX-License-Identifier: Apache-2.0
"""Writes the records for the engine in `cpp/bindings`: one C++ file per library."""

from __future__ import annotations

from .. import kinds
from ..model import Library, origin_of
from . import table_numpy_structs
from .packed_texts import PackedTexts
from .slots_hpp import library_id
from .table_classes import classes_table
from .table_enums import enums_table
from .table_functions import functions_table, methods_table
from .table_index import Index
from .table_text import dotted

GENERATED = f"// {origin_of('generator/api')}\n"
HEAD = """\
// {origin}
#include <cstddef>
#include <type_traits>
#include <utility>

#include "bindings/module/module.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/handwritten/handwritten.hpp"
#include "bindings/records/table_checks.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/calls/specialized.hpp"
#include "driver/{table}_table.hpp"

namespace halfwarp::bindings {{

{status}extern const library {name}_library;
{uses}extern const method_record {name}_methods[{methods}];
extern const PyCFunction {name}_entries[{methods}];

namespace {name} {{
namespace {{

"""


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    texts = PackedTexts()
    out = {
        "build/generated/bindings/libraries.cpp": registry(list(libraries)),
        "build/generated/bindings/records/kinds.hpp": kinds_header(),
    }
    for library in libraries.values():
        out[f"build/generated/bindings/{library.name}_tables.cpp"] = tables(library, texts)
    out["build/generated/bindings/texts.cpp"] = texts.source(
        GENERATED, "bindings/records/records.hpp", "halfwarp::bindings", "texts"
    )
    return out


def kinds_header() -> str:
    rows = kinds.engine_kinds().items()
    members = "".join(f"  {name},  // {', '.join(words)}\n" for name, words in rows)
    fields = "".join(f"  {name},\n" for name in kinds.field_kinds())
    values = "".join(f"  {name},\n" for name in kinds.value_kinds())
    return (
        f"// {origin_of('generator/kinds.py')}\n#pragma once\n\n#include <cstdint>\n\n"
        "namespace halfwarp::bindings {\n\n"
        "// Kind of a parameter, a field or an element, with the words of generator/README.md.\n"
        f"enum class kind : std::uint8_t {{\n{members}  count_of_parameter_kinds,\n"
        f"  // of fields alone\n{fields}}};\n\n"
        "// The Python type of the value behind an attribute.\n"
        f"enum class value_kind : std::uint8_t {{\n{values}}};\n\n"
        "}  // namespace halfwarp::bindings\n"
    )


def registry(names: list[str]) -> str:
    declared = "".join(f"extern const library {n}_library;\n" for n in names)
    listed = ", ".join(f"&{n}_library" for n in names)
    return (
        f"{GENERATED}"
        '#include "bindings/records/records.hpp"\n\n'
        f"namespace halfwarp::bindings {{\n\n{declared}\n"
        f"static constexpr const library* listed[] = {{{listed}}};\n"
        "constinit const std::span<const library* const> libraries = listed;\n\n"
        "}  // namespace halfwarp::bindings\n"
    )


def tables(library: Library, texts: PackedTexts) -> str:
    """All records of a library, each before the records that refer to it."""
    index = Index(library, texts)
    parts = [
        index.declarations(),
        *(table_numpy_structs.fields_block(t, index) for t in library.numpy_structs),
        classes_table(library, index),
        enums_table(library, texts),
        constants_table(library, texts),
        attributes_tables(library, index),
        table_numpy_structs.assemblies_table(library, index),
        functions_table(library, index),
        library_record(library, index),
        methods_table(library, index),
    ]
    return (
        HEAD.format(
            origin=library.origin,
            name=library.name,
            table=library.table,
            uses=used(library),
            status=status_type(library),
            methods=methods_count(library, index),
        )
        + "\n".join(p for p in parts[:-1] if p)
        + f"\n}}  // namespace\n}}  // namespace {library.name}\n\n"
        + f"constexpr library {library.name}_library = {library.name}::described;\n"
        + f"static_assert(is_consistent({library.name}_library));\n\n"
        + parts[-1]
        + "\n}  // namespace halfwarp::bindings\n"
    )


def methods_count(library: Library, index: Index) -> int:
    names = sum(1 + len(f.aliases) for f in index.functions)
    return names + len(library.decisions.status_checks)


def status_type(library: Library) -> str:
    """The declaration of a struct that functions return instead of a code."""
    result = library.decisions.result_type
    if result in ("", library.decisions.result_enum):
        return ""
    return f"template <>\ninline constexpr bool is_status<::{result}> = true;\n\n"


def used(library: Library) -> str:
    return "".join(f"extern const library {name}_library;\n" for name in library.uses)


# --- constants, attributes ------------------------------------------------------------------------


def constants_table(library: Library, texts: PackedTexts) -> str:
    if not library.offered:
        return "constexpr std::span<const constant> constants;\n"
    lines = "".join(f"  {{{texts(c.name)}, {c.value}ll}},\n" for c in library.offered)
    return f"constexpr constant constants[] = {{\n{lines}}};\n"


def value_kind(kind: kinds.Kind, index: Index) -> str:
    if kind.shape == "plain":
        return f"value_kind::{kinds.VALUES[kind.element].cpp}"
    if "." in kind.element:
        owner, place = index.reference(kind.element)
        return f"value_kind::{kind.row.cpp}, {place}, {owner}"
    return f"value_kind::{kind.row.cpp}, {kind.row.index.format(element=kind.element)}"


def attributes_tables(library: Library, index: Index) -> str:
    if not index.attributes:
        return "constexpr std::span<const attribute_table> attribute_tables;\n"
    blocks = []
    for enum in index.attributes:
        rows = library.attributes[enum].items()
        lines = "".join(f"  {{::{member}, {value_kind(kind, index)}}},\n" for member, kind in rows)
        blocks.append(f"constexpr attribute {enum}_values[] = {{\n{lines}}};\n")
    rows = ", ".join(f"{{enum_{e}, {e}_values}}" for e in index.attributes)
    return "".join(blocks) + f"constexpr attribute_table attribute_tables[] = {{{rows}}};\n"


# --- the library ---------------------------------------------------------------------------------


def library_record(library: Library, index: Index) -> str:
    name = library.name
    module = f"{library.package}.{library.module}"
    table = f"halfwarp::driver::{library_id(library.table)}"
    return (
        f"{exceptions_table(library, index.texts)}library_state state;\n"
        f'constexpr library described = {{"{module}", functions, params, thunks,\n'
        f"    handwritten_table, class_records, fields, extras, enum_records, members, constants,\n"
        f"    attribute_tables, types, enum_types, phrases, {name}_methods, {name}_entries,\n"
        f"    lazy_module_methods<{name}_library>, &state,\n"
        f"    enum_{library.result_class}, {table}{more(library)}}};\n"
    )


def more(library: Library) -> str:
    """Further members of the record of a library whose functions raise."""
    return ", &raises, assemblies, foreign_enums" if library.raises else ""


def exceptions_table(library: Library, texts: PackedTexts) -> str:
    """The exception class of the library, then the classes of single statuses."""
    if not library.raises:
        return ""
    decided = library.decisions
    null_status = decided.refuses_null.get("status", "")
    base = (decided.exception, "0", "A call failed: `status` is its code.")
    rows = [base] + [
        (name, f"::{member}", f"A call failed with {member}.")
        for name, member in library.exceptions.items()
    ]
    lines = "".join(
        f"  {{{texts(dotted(library, name))}, {texts(error_doc(library, name, doc))}, {status}}},\n"
        for name, status, doc in rows
    )
    return (
        f"constexpr exception_record exception_records[] = {{\n{lines}}};\n"
        f"PyTypeObject* exception_types[{len(rows)}];\n"
        f"{aliases_table(library, texts)}{foreign_enums_table(library, texts)}"
        "constexpr exception_convention raises = {exception_records, exception_types, "
        f"error_init<{library.name}_library>,\n"
        f"    {details(library)}, {status(decided.insufficient)}, exception_aliases,\n"
        f"    {status(null_status)}, {str(decided.python_enums).lower()}}};\n"
    )


def details(library: Library) -> str:
    return f"&{library.decisions.error_details}" if library.decisions.error_details else "nullptr"


def status(name: str) -> str:
    return f"::{name}" if name else "0"


def aliases_table(library: Library, texts: PackedTexts) -> str:
    """Further names of exceptions."""
    if not library.decisions.exception_aliases:
        return "constexpr std::span<const exception_alias> exception_aliases;\n"
    places = {name: i for i, name in enumerate([library.decisions.exception, *library.exceptions])}
    rows = ", ".join(
        f"{{{texts(alias)}, {places[name]}}}"
        for alias, name in library.decisions.exception_aliases.items()
    )
    return f"constexpr exception_alias exception_aliases[] = {{{rows}}};\n"


def foreign_enums_table(library: Library, texts: PackedTexts) -> str:
    """Enumerations of other libraries under names of this one."""
    if not library.decisions.enum_aliases:
        return "constexpr std::span<const foreign_enum> foreign_enums;\n"
    rows = []
    for alias, name in library.decisions.enum_aliases.items():
        owner, _, enum = name.partition(".")
        place = [e.name for e in library.uses[owner].enums].index(enum)
        rows.append(f"{{{texts(alias)}, &{owner}_library, {place}}}")
    return f"constexpr foreign_enum foreign_enums[] = {{{', '.join(rows)}}};\n"


def error_doc(library: Library, name: str, text: str) -> str:
    params = ", ".join(["status", *(f"{extra}=None" for extra in library.decisions.error_extras)])
    return f"{name}({params})\n--\n\n{text}"
