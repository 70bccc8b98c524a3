# SPDX-License-Identifier: Apache-2.0
"""Writes the exported API of the emulated runtime, and the names and texts of its errors."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ... import api_file
from ...kinds import Kind
from ...model import Enum, Function, Library, Param
from ..slots_hpp import first_line
from .front import Front, arguments, parameters, requirements_header

FORWARDS = Path(__file__).with_suffix(".toml")
FOR_PROGRAMS = Path(__file__).with_name("programs.api")
ERRORS = Path(__file__).with_name("runtime_errors.toml")
FOLDER = "emulated_runtime"


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    if "runtime" not in libraries:  # another project
        return {}
    runtime = libraries["runtime"]
    functions = exported_functions(runtime)
    front = Front(runtime, FOLDER, functions, per_thread=True, forwards=forwards(functions))
    return front.files() | {
        f"build/generated/{FOLDER}/requirements.hpp": requirements_header(front),
        f"build/generated/{FOLDER}/forwarding.cpp": forwarding_source(front),
        f"build/generated/{FOLDER}/error_table.cpp": error_table(runtime),
        f"build/generated/{FOLDER}/driver_names.cpp": driver_names(libraries["driver"]),
    }


def exported_functions(runtime: Library) -> list[Function]:
    """The functions of the bindings and those for compiled programs, sorted by name."""
    of_bindings = [f for f in runtime.functions if is_of_the_library(runtime, f)]
    return sorted([*of_bindings, *functions_for_programs()], key=lambda f: f.name)


def functions_for_programs() -> list[Function]:
    """Functions that only compiled programs can call."""
    needs = tomllib.loads(FORWARDS.read_text("utf-8"))["needs"]
    return [
        Function(
            name=fact.name,
            c_name=fact.c_name,
            ret=fact.ret,
            params=[Param(p.name, p.name, p.c_type, Kind(p.kind)) for p in fact.params],
            header=fact.header,
            flags=fact.flags,
            needs=needs.get(fact.name, "context"),
        )
        for fact in api_file.read(FOR_PROGRAMS).functions
    ]


def is_of_the_library(library: Library, function: Function) -> bool:
    """Whether the library exports a function: no inline function, and none of our extension."""
    return (
        "inline" not in function.flags and function.header not in library.decisions.implemented_here
    )


def forwards(functions: list[Function]) -> dict[str, str]:
    """Map runtime functions to driver functions with the same parameters."""
    table = tomllib.loads(FORWARDS.read_text("utf-8"))
    same = {name: "cu" + name.removeprefix("cuda") for name in table["same_name"]["functions"]}
    chosen = same | table["other_name"]
    if unknown := chosen.keys() - {f.name for f in functions}:
        raise SystemExit(f"{FORWARDS}: the runtime API lacks {', '.join(sorted(unknown))}")
    return chosen


def forwarding_source(front: Front) -> str:
    """Bodies that forward their arguments to the driver."""
    bodies = "\n".join(
        forwarding_body(f, front.forwards[f.name])
        for f in front.functions
        if f.name in front.forwards
    )
    return f"""{first_line([front.library])}
#include "{FOLDER}/api.hpp"
#include "{FOLDER}/process/forward.hpp"

namespace {front.namespace} {{

{bodies}
}}  // namespace {front.namespace}
"""


def forwarding_body(function: Function, driver_function: str) -> str:
    passed = ", ".join(part for part in (f"table->{driver_function}", arguments(function)) if part)
    return (
        f"{function.ret} {function.c_name}({parameters(function)}) noexcept {{\n"
        f"  return forward({passed});\n}}\n"
    )


def driver_names(driver: Library) -> str:
    """The exported names of the driver's functions, in the order of its table."""
    names = "".join(f'    "{f.c_name}\\0"\n' for f in driver.functions)
    return f"""{first_line([driver])}
#include "{FOLDER}/process/connection.hpp"

namespace halfwarp::{FOLDER} {{

constinit const char driver_names[] =
{names}    ;

}}  // namespace halfwarp::{FOLDER}
"""


def error_table(library: Library) -> str:
    """Each code with its name and its own text, sorted by code."""
    codes = {m.value: m for m in reversed(result_enum(library).members)}
    texts = tomllib.loads(ERRORS.read_text("utf-8"))["texts"]
    if unknown := texts.keys() - {m.name for m in codes.values()}:
        raise SystemExit(f"{ERRORS}: the runtime API lacks {', '.join(sorted(unknown))}")
    rows = "".join(
        f'    {{{m.name}, "{m.name}", {c_text(texts.get(m.name))}}},\n'
        for _, m in sorted(codes.items())
    )
    return f"""{first_line([library])}
#include "{FOLDER}/process/errors.hpp"

namespace halfwarp::{FOLDER} {{

namespace {{

constexpr error_entry entries[] = {{
{rows}}};

}}  // namespace

std::span<const error_entry> error_entries() noexcept {{ return entries; }}

}}  // namespace halfwarp::{FOLDER}
"""


def result_enum(library: Library) -> Enum:
    return next(e for e in library.enums if e.name == library.decisions.result_enum)


def c_text(text: str | None) -> str:
    escaped = (text or "").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if text else "nullptr"
