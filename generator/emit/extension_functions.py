# SPDX-License-Identifier: Apache-2.0
"""Writes the function addresses of a library that an extension of this package contains."""

from __future__ import annotations

from ..model import Function, Library
from .slots_hpp import per_thread_suffix


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {
        f"build/generated/{name}/entries.cpp": entries_source(library)
        for name, library in libraries.items()
        if library.decisions.loading.method == "extension" and not library.is_face
    }


def entries_source(library: Library) -> str:
    functions = sorted(library.functions, key=lambda f: f.c_name)
    variants = "".join(variant(f) for f in functions if per_thread_suffix(f))
    rows = "".join(row(library, f) for f in functions)
    return f"""// {library.origin}
#include "{library.name}/functions.hpp"

#include "driver/{library.name}_table.hpp"

// The header declares either these or the other variants, not both.
extern "C" {{
{variants}}}

namespace halfwarp::{library.name} {{
namespace {{

template <class Function>
void* address(Function* function) {{
  return reinterpret_cast<void*>(function);
}}

const entry all[] = {{
{rows}}};

}}  // namespace

std::span<const entry> entries() noexcept {{ return all; }}

}}  // namespace halfwarp::{library.name}
"""


def variant(function: Function) -> str:
    name = f"{function.c_name}{per_thread_suffix(function)}"
    return f"decltype({function.c_name}) {name};\n"


def row(library: Library, function: Function) -> str:
    suffix = per_thread_suffix(function)
    per_thread = f"address(&::{function.c_name}{suffix})" if suffix else "nullptr"
    is_own = "inline" in function.flags or function.header in library.decisions.implemented_here
    return (
        f'    {{"{function.c_name}", address(&::{function.c_name}), {per_thread}, '
        f"{str(is_own).lower()}}},\n"
    )
