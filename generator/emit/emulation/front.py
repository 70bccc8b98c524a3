# SPDX-License-Identifier: Apache-2.0
"""Writes a library with the C names of an API: declarations, default bodies and exports."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...decisions.functions import WORDS
from ...model import Function, Library
from ..slots_hpp import first_line, includes, per_thread_suffix


@dataclass(frozen=True, slots=True)
class Front:
    """A shared library with the C names of an API; its bodies are in `cpp/<folder>/api`."""

    library: Library
    folder: str
    functions: list[Function]
    per_thread: bool = False  # also exports variants for per-thread default streams
    forwards: dict[str, str] = field(default_factory=dict)  # function -> statement of its body
    handles: tuple[str, ...] = ()  # types of a first parameter that the gate checks

    @property
    def namespace(self) -> str:
        return f"halfwarp::{self.folder}::api"

    def is_gated(self, function: Function) -> bool:
        """Whether a function returns the API's result type, and so can be refused."""
        return function.ret == self.library.decisions.result_enum

    def gate_arguments(self, index: int, function: Function) -> str:
        """Arguments of a function's gate: its index, and its handle argument."""
        first = function.params[0] if function.params else None
        is_handle = first and first.c_type in self.handles
        return f"{index}, {first.c_name}" if first and is_handle else f"{index}"

    def files(self) -> dict[str, str]:
        """Text of the files of a front, by path below the root."""
        folder = f"build/generated/{self.folder}"
        return {
            f"{folder}/api.hpp": api_header(self),
            f"{folder}/refusing.cpp": refusing_source(self),
            f"{folder}/exports.cpp": exports_source(self),
        }


def parameters(function: Function) -> str:
    """The C parameter list with names, for a definition."""
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
    """Declarations of the handwritten bodies, and the names in table order."""
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

// Returns an index at compile time; an unknown name is a compile error.
consteval unsigned index_of(std::string_view name) {{
  unsigned index = 0;
  while (function_names[index] != name) ++index;
  return index;
}}

{declarations(front.functions)}
}}  // namespace {front.namespace}
"""


def requirements_header(front: Front) -> str:
    """The state that each function needs, and whether it releases a resource."""
    rows = "".join(
        f"    {{needs::{f.needs}, {str(f.is_release).lower()}}},  // {f.name}\n"
        for f in front.functions
    )
    return f"""{first_line([front.library])}#pragma once

#include <cstdint>

namespace {front.namespace} {{

enum class needs : std::uint8_t {{ {", ".join(reversed(WORDS["needs"]))} }};

struct requirement {{
  needs state;
  bool releases;
}};

inline constexpr requirement requirements[] = {{
{rows}}};

}}  // namespace {front.namespace}
"""


def refusing_source(front: Front) -> str:
    """A weak body for each function; a body in `cpp/<folder>/api` overrides it."""
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
    """Exports of the C names, and of their variants for per-thread default streams."""
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
  gate entry{{{front.gate_arguments(index, function)}}};
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
