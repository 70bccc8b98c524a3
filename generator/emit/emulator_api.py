# SPDX-License-Identifier: Apache-2.0
"""Writes the front of the emulator: every driver function declared, refused, exported and named."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Function, Library
from .slots_hpp import first_line, includes, per_thread_suffix


@dataclass(frozen=True, slots=True)
class Front:
    """A shared library with the C names of an API, whose bodies lie in `cpp/<folder>/api`."""

    library: Library
    folder: str
    functions: list[Function]
    per_thread: bool = False  # exports the variants for per-thread default streams as well
    forwards: dict[str, str] = field(default_factory=dict)  # function -> statement of its body

    @property
    def namespace(self) -> str:
        return f"halfwarp::{self.folder}::api"

    def is_gated(self, function: Function) -> bool:
        """Whether a function answers with the API's result, and so can be refused."""
        return function.ret == self.library.result_enum

    def files(self) -> dict[str, str]:
        """Text of the files that each front has, by path below the root."""
        folder = f"build/generated/{self.folder}"
        return {
            f"{folder}/api.hpp": api_header(self),
            f"{folder}/refusing.cpp": refusing_source(self),
            f"{folder}/exports.cpp": exports_source(self),
        }


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    driver = libraries["driver"]
    front = Front(driver, "emulator", driver.functions, per_thread=True)
    return front.files() | {"build/generated/emulator/names.cpp": names_source(driver)}


def parameters(function: Function) -> str:
    """The C parameter list with names, as a definition has it."""
    return ", ".join(
        f"{p.c_type}{'' if p.c_type.endswith('*') else ' '}{p.c_name}" for p in function.params
    )


def parameter_types(function: Function) -> str:
    return ", ".join(p.c_type for p in function.params)


def arguments(function: Function) -> str:
    return ", ".join(p.c_name for p in function.params)


def declarations(functions: list[Function]) -> str:
    return "".join(f"{f.ret} {f.c_name}({parameters(f)}) noexcept;\n" for f in functions)


def api_header(front: Front) -> str:
    """What the hand-written bodies define, and the names in table order."""
    names = "".join(f'    "{f.name}",\n' for f in front.functions)
    return f"""{first_line([front.library])}#pragma once

#include <cstddef>
#include <string_view>

{includes(front.library)}
namespace {front.namespace} {{

inline constexpr unsigned function_count = {len(front.functions)};

// Public names; a function's index is its position here.
inline constexpr std::string_view function_names[function_count] = {{
{names}}};

// For constants: a name that does not exist is a compile error.
consteval unsigned index_of(std::string_view name) {{
  unsigned index = 0;
  while (function_names[index] != name) ++index;
  return index;
}}

{declarations(front.functions)}
}}  // namespace {front.namespace}
"""


def refusing_source(front: Front) -> str:
    """A weak body for each function: a body in `cpp/<folder>/api` takes its place."""
    bodies = "".join(
        f"[[gnu::weak]] {f.ret} {f.c_name}({parameter_types(f)}) noexcept "
        f"{{ return refuse({i}); }}\n"
        for i, f in enumerate(front.functions)
        if front.is_gated(f) and f.name not in front.forwards
    )
    return f"""{first_line([front.library])}
#include "{front.folder}/api.hpp"
#include "{front.folder}/api/refuse.hpp"

namespace {front.namespace} {{

{bodies}
}}  // namespace {front.namespace}
"""


def exports_source(front: Front) -> str:
    """The API's own C names, and their variants for per-thread default streams."""
    exports = "".join(export(front, i, f) for i, f in enumerate(front.functions))
    per_thread = f"using {front.namespace}::per_thread_streams;\n" if front.per_thread else ""
    entry_points = f'#include "{front.folder}/api/entry_points.hpp"\n' if front.per_thread else ""
    return f"""{first_line([front.library])}
#include "{front.folder}/api.hpp"
{entry_points}#include "{front.folder}/api/gate.hpp"

#pragma GCC visibility push(default)

using {front.namespace}::gate;
{per_thread}namespace api = {front.namespace};

extern "C" {{

{exports}}}
"""


def export(front: Front, index: int, function: Function) -> str:
    name, call = function.c_name, f"api::{function.c_name}({arguments(function)})"
    if not front.is_gated(function):
        return f"{function.ret} {name}({parameters(function)}) {{ return {call}; }}\n\n"
    text = f"""{function.ret} {name}({parameters(function)}) {{
  gate entry{{{index}}};
  return entry.blocked ? entry.code : entry.leave({call});
}}

"""
    suffix = per_thread_suffix(function)
    if not (front.per_thread and suffix):
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
