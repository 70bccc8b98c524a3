# SPDX-License-Identifier: Apache-2.0
"""Writes the front of the emulator: every driver function declared, refused, exported and named."""

from __future__ import annotations

from ..model import Function, Library
from .slots_hpp import first_line, includes, per_thread_suffix


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    driver = libraries["driver"]
    return {
        "build/generated/emulator/api.hpp": api_header(driver),
        "build/generated/emulator/refusing.cpp": refusing_source(driver),
        "build/generated/emulator/exports.cpp": exports_source(driver),
        "build/generated/emulator/names.cpp": names_source(driver),
    }


def parameters(function: Function) -> str:
    """The C parameter list with names, as a definition has it."""
    return ", ".join(
        f"{p.c_type}{'' if p.c_type.endswith('*') else ' '}{p.c_name}" for p in function.params
    )


def parameter_types(function: Function) -> str:
    return ", ".join(p.c_type for p in function.params)


def arguments(function: Function) -> str:
    return ", ".join(p.c_name for p in function.params)


def declarations(library: Library) -> str:
    return "".join(f"{f.ret} {f.c_name}({parameters(f)}) noexcept;\n" for f in library.functions)


def api_header(library: Library) -> str:
    """What the hand-written bodies in `cpp/emulator/api` define, and the names in table order."""
    names = "".join(f'    "{f.name}",\n' for f in library.functions)
    return f"""{first_line([library])}#pragma once

#include <cstddef>
#include <string_view>

{includes(library)}
namespace halfwarp::emulator::api {{

inline constexpr unsigned function_count = {len(library.functions)};

// Public names; a function's index is its position here.
inline constexpr std::string_view function_names[function_count] = {{
{names}}};

// For constants: a name that does not exist is a compile error.
consteval unsigned index_of(std::string_view name) {{
  unsigned index = 0;
  while (function_names[index] != name) ++index;
  return index;
}}

{declarations(library)}
}}  // namespace halfwarp::emulator::api
"""


def refusing_source(library: Library) -> str:
    """A weak body for each function: a body in `cpp/emulator/api` takes its place."""
    bodies = "".join(
        f"[[gnu::weak]] {f.ret} {f.c_name}({parameter_types(f)}) noexcept "
        f"{{ return refuse({i}); }}\n"
        for i, f in enumerate(library.functions)
    )
    return f"""{first_line([library])}
#include "emulator/api.hpp"
#include "emulator/api/refuse.hpp"

namespace halfwarp::emulator::api {{

{bodies}
}}  // namespace halfwarp::emulator::api
"""


def exports_source(library: Library) -> str:
    """The driver's own C names, and their variants for per-thread default streams."""
    exports = "".join(export(i, f) for i, f in enumerate(library.functions))
    return f"""{first_line([library])}
#include "emulator/api.hpp"
#include "emulator/api/entry_points.hpp"
#include "emulator/api/gate.hpp"

#pragma GCC visibility push(default)

using halfwarp::emulator::api::gate;
using halfwarp::emulator::api::per_thread_streams;
namespace api = halfwarp::emulator::api;

extern "C" {{

{exports}}}
"""


def export(index: int, function: Function) -> str:
    name, call = function.c_name, f"api::{function.c_name}({arguments(function)})"
    text = f"""{function.ret} {name}({parameters(function)}) {{
  gate entry{{{index}}};
  return entry.blocked ? entry.code : entry.leave({call});
}}

"""
    if not (suffix := per_thread_suffix(function)):
        return text
    return f"""{text}{function.ret} {name}{suffix}({parameters(function)}) {{
  const per_thread_streams scope;
  return {name}({arguments(function)});
}}

"""


def names_source(library: Library) -> str:
    """What cuGetProcAddress finds, sorted by base name and version."""
    order = sorted(library.functions, key=lambda f: (f.symbol, f.version))
    rows = "".join(
        f'    {{"{f.symbol}", {f.version}, address_of(::{f.c_name}), {per_thread_address(f)}, '
        f"address_of(null_driver::{f.c_name})}},\n"
        for f in order
    )
    undeclared = "".join(
        f"{f.ret} {name}({parameter_types(f)});\n" for f in order for name in undeclared_names(f)
    )
    return f"""{first_line([library])}
#include "emulator/api.hpp"
#include "emulator/api/entry_points.hpp"
#include "emulator/null_driver.hpp"

// What cuda.h does not show.
extern "C" {{
{undeclared}}}

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


def per_thread_address(function: Function) -> str:
    suffix = per_thread_suffix(function)
    return f"address_of(::{function.c_name}{suffix})" if suffix else "nullptr"


def undeclared_names(function: Function) -> list[str]:
    """Exported names of a function, old or per-thread, that the headers declare for nobody else."""
    suffix = per_thread_suffix(function)
    names = [function.c_name] if "hidden" in function.flags else []
    return names + ([function.c_name + suffix] if suffix else [])
