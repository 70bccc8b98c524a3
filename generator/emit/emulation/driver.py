# SPDX-License-Identifier: Apache-2.0
"""Writes the exported API of the emulator, and the table for cuGetProcAddress."""

from __future__ import annotations

from ...model import Function, Library
from ..slots_hpp import first_line, per_thread_suffix
from .front import Front, arguments, parameter_types, parameters, requirements_header


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    driver = libraries["driver"]
    front = Front(driver, "emulator", driver.functions, per_thread=True)
    return front.files() | {
        "build/generated/emulator/names.cpp": names_source(driver),
        "build/generated/emulator/requirements.hpp": requirements_header(front),
    }


def names_source(library: Library) -> str:
    """The table for cuGetProcAddress, sorted by base name and version."""
    order = sorted(library.functions, key=lambda f: (f.symbol, f.version))
    rows = "".join(
        f'    {{"{f.symbol}", {version}, address_of(::{f.c_name}), {per_thread_address(f)}, '
        f"address_of(null_driver::{f.c_name})}},\n"
        for f, version in sorted(variants(order), key=lambda v: (v[0].symbol, v[1]))
    )
    older = "".join(older_export(f) for f in unnumbered(order))
    undeclared = "".join(
        f"{f.ret} {name}({parameter_types(f)});\n" for f in order for name in undeclared_names(f)
    )
    return f"""{first_line([library])}
#include "emulator/api.hpp"
#include "emulator/api/entry_points.hpp"
#include "emulator/null_driver.hpp"

// Functions that cuda.h does not declare.
extern "C" {{
{undeclared}}}

// First variants, for lookups by exported name.
extern "C" {{
{older}}}

namespace halfwarp::emulator::api {{

namespace {{

template <class Result, class... Params>
void* address_of(Result (*function)(Params...)) noexcept {{
  return reinterpret_cast<void*>(function);
}}

const entry_point table[] = {{
{rows}}};

}}  // namespace

std::span<const entry_point> entry_points() noexcept {{ return table; }}

}}  // namespace halfwarp::emulator::api
"""


def variants(functions: list[Function]) -> list[tuple[Function, int]]:
    """Each function with its version, and with the versions of older variants that it replaces."""
    used = {(f.symbol, f.version) for f in functions}
    rows = [(f, f.version) for f in functions]
    for function in functions:
        older = [v for v in function.older_versions if (function.symbol, v) not in used]
        used.update((function.symbol, v) for v in older)
        rows += [(function, v) for v in older]
    return rows


def unnumbered(functions: list[Function]) -> list[Function]:
    """Functions whose first variant, which has no number in its name, takes the same C types."""
    exported = {f.c_name for f in functions}
    return [f for f in functions if f.older_versions and f.symbol not in exported]


def older_export(function: Function) -> str:
    """An export by assembler name: a macro of the header renames the function itself."""
    head = f"{function.ret} older_{function.symbol}({parameters(function)})"
    return (
        f'[[gnu::visibility("default")]] {head} __asm__("{function.symbol}");\n'
        f"{head} {{ return ::{function.c_name}({arguments(function)}); }}\n"
    )


def per_thread_address(function: Function) -> str:
    suffix = per_thread_suffix(function)
    return f"address_of(::{function.c_name}{suffix})" if suffix else "nullptr"


def undeclared_names(function: Function) -> list[str]:
    """Exported names of a function, old or per-thread, that headers hide from clients."""
    suffix = per_thread_suffix(function)
    names = [function.c_name] if "hidden" in function.flags else []
    return names + ([function.c_name + suffix] if suffix else [])
