# SPDX-License-Identifier: Apache-2.0
"""Writes the function tables of all libraries, with names and initial values of their slots."""

from __future__ import annotations

from ..model import Function, Library, origin_of
from .packed_texts import PackedTexts


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    every, texts = [lib for lib in libraries.values() if not lib.is_face], PackedTexts()
    out = {
        "build/generated/driver/libraries.hpp": libraries_header(every),
        "build/generated/driver/libraries.cpp": libraries_source(every),
    }
    if driver := libraries.get("driver"):
        out["cuda/core/_driver_table.pxd"] = table_pxd(driver)
    for library in every:
        out[f"build/generated/driver/{library.name}_table.hpp"] = table_header(library)
        out[f"build/generated/driver/{library.name}_slots.cpp"] = slots_source(library, texts)
    out["build/generated/driver/texts.cpp"] = texts.source(
        first_line(every), "driver/loader/symbol.hpp", "halfwarp::driver", "symbol_texts"
    )
    return out


def first_line(libraries: list[Library]) -> str:
    sources = " and ".join(f"generator/api/{library.name}.api" for library in libraries)
    return f"/* {origin_of(sources)} */\n"


def library_id(library: str) -> str:
    return f"HALFWARP_{library.upper()}"


def libraries_header(libraries: list[Library]) -> str:
    ids = "".join(f"  {library_id(library.name)},\n" for library in libraries)
    return (
        f"{first_line(libraries)}#pragma once\n\n"
        "#ifdef __cplusplus\nnamespace halfwarp::driver {\n#endif\n\n"
        f"enum library_id {{\n{ids}  HALFWARP_LIBRARY_COUNT\n}};\n\n"
        "#ifdef __cplusplus\n}\n#endif\n"
    )


def libraries_source(libraries: list[Library]) -> str:
    records = "".join(
        f"extern const library_record {library.name}_record;\n" for library in libraries
    )
    rows = "".join(f"    &{library.name}_record,\n" for library in libraries)
    return (
        f'{first_line(libraries)}#include "driver/loader/symbol.hpp"\n\n'
        "namespace halfwarp::driver {\n\n"
        f"{records}\n"
        f"const library_record* const library_records[HALFWARP_LIBRARY_COUNT] = {{\n{rows}}};\n\n"
        "}  // namespace halfwarp::driver\n"
    )


def includes(library: Library) -> str:
    """The lines that declare the functions of a library."""
    before = "".join(f"#include <{name}>\n" for name in library.decisions.before)
    return before + "".join(f"{library.include(name)}\n" for name in library.facts.headers)


def table_pxd(driver: Library) -> str:
    """The driver's table for the Cython sources of `cuda.core`; C++ checks their calls."""
    slots = "".join(f"        driver_function {f.name}\n" for f in driver.functions)
    return (
        f"# {driver.origin}\n\n"
        'cdef extern from "driver/call.hpp" namespace "halfwarp::driver" nogil:\n'
        "    # A slot, under its C name. C++ checks the calls through it.\n"
        "    ctypedef const void* driver_function\n"
        f"    cppclass driver_table:\n{slots}"
        '    const driver_table* driver "halfwarp::driver::table"\n'
    )


def table_header(library: Library) -> str:
    return (
        f"{first_line([library])}#pragma once\n\n#include <cstddef>\n\n{includes(library)}\n"
        f"namespace halfwarp::driver {{\n\n{table_struct(library)}\n"
        "}  // namespace halfwarp::driver\n"
    )


def table_struct(library: Library) -> str:
    """The table of a library; a header macro that renames a function renames its slot too."""
    slots = "".join(f"  {slot(f)};\n" for f in library.functions)
    count = f"{library.name}_slot_count"
    return (
        f"struct {library.name}_table {{\n{slots}}};\n\n"
        f"inline constexpr std::size_t {count} = {len(library.functions)};\n"
        f"static_assert(sizeof({library.name}_table) == {count} * sizeof(void*));\n"
    )


def slot(function: Function) -> str:
    """The declaration of a slot; the header declares its type, except for hidden old variants."""
    if "hidden" in function.flags:
        types = ", ".join(p.c_type for p in function.params)
        return f"{function.ret} (*{function.name})({types})"
    return f"decltype(&::{function.name}) {function.name}"


def slots_source(library: Library, texts: PackedTexts) -> str:
    """The instance of a table, filled with resolvers, and the symbols that replace them."""
    name, kind = library.name, f"{library.name}_table"
    slots = "".join(
        f"    &first_call<library, {i}, decltype({kind}::{f.name}), nothing>::run,\n"
        for i, f in enumerate(library.functions)
    )
    symbols = "".join(symbol_row(f, texts) for f in library.functions)
    return f"""{first_line([library])}
#include "driver/loader/first_call.hpp"
#include "driver/{name}_table.hpp"

namespace halfwarp::driver {{

namespace {{

constexpr library_id library = {library_id(library.name)};

// Result of a call without a function; a Python error is set. The exception clauses of cy{name}
// check for this value.
struct nothing {{
  template <class Result>
  static constexpr Result value() noexcept {{
    if constexpr (std::is_same_v<Result, {library.decisions.result_type}>) {{
      return {library.nothing_found_c};
    }} else {{
      return Result();
    }}
  }}
}};

// Values of the slots before the library is open; an equal slot is unfilled.
constinit const {kind} first_slots = {{
{slots}}};
{kind} slots;

constinit const symbol symbols[] = {{
{symbols}}};

}}  // namespace

extern const library_record {name}_record;
const library_record {name}_record = {{
    "{name}",
    reinterpret_cast<void**>(&slots),
    reinterpret_cast<void* const*>(&first_slots),
    symbols,
    {name}_slot_count,
    opening::{library.decisions.loading.method},
    "{library.decisions.loading.name}",
    "{library.decisions.loading.package}",
    "{library.decisions.loading.instructions}",
    {emulated_file(library)},
}};

}}  // namespace halfwarp::driver
"""


def emulated_file(library: Library) -> str:
    name = library.decisions.loading.emulated
    return f'"{name}"' if name else "nullptr"


def symbol_row(function: Function, texts: PackedTexts) -> str:
    names = ", ".join(map(texts, (function.name, function.symbol, function.c_name)))
    suffix = texts(per_thread_suffix(function))
    return f"    {{{names}, {function.version}, {function.older}, {suffix}}},\n"


def per_thread_suffix(function: Function) -> str:
    """The suffix of the per-thread variant of a function; empty if there is none."""
    return next((f"_{flag}" for flag in function.flags if flag in ("ptds", "ptsz")), "")
