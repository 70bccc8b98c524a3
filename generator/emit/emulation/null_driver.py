# SPDX-License-Identifier: Apache-2.0
"""Writes the null driver: functions that succeed at once and execute nothing."""

from __future__ import annotations

import re

from ...model import Function, Library, Param
from ..slots_hpp import first_line
from .front import declarations

# Identity integers for which zero is a valid value.
ZERO_IS_VALID = {"CUdevice", "CUlogIterator"}
COUNTED = re.compile(r"out:list:.*\[(\w+)\]$")


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    driver = libraries["driver"]
    return {
        "build/generated/emulator/null_driver.hpp": header(driver),
        "build/generated/emulator/null_bodies.cpp": bodies(driver),
    }


def header(library: Library) -> str:
    return f"""{first_line([library])}#pragma once

#include "emulator/api.hpp"

namespace halfwarp::emulator::null_driver {{

{declarations(library.functions)}
}}  // namespace halfwarp::emulator::null_driver
"""


def bodies(library: Library) -> str:
    """A weak body for each function; a body in `cpp/emulator/null` overrides it."""
    handles = {h.name for h in library.handles} - ZERO_IS_VALID
    text = "\n".join(body(f, handles) for f in library.functions)
    return f"""{first_line([library])}
#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {{

{text}
}}  // namespace halfwarp::emulator::null_driver
"""


def body(function: Function, handles: set[str]) -> str:
    answers = [(p, answer(p, function, handles)) for p in function.params]
    used = {name for _, text in answers if text for name in re.findall(r"\w+", text)}
    params = ", ".join(declared(p, p.c_name in used) for p in function.params)
    lines = "".join(f"  {text};\n" for _, text in answers if text)
    return (
        f"[[gnu::weak]] {function.ret} {function.c_name}({params}) noexcept {{\n"
        f"{lines}  return CUDA_SUCCESS;\n}}\n"
    )


def declared(param: Param, is_used: bool) -> str:
    """A parameter of a definition; an unused one has no name."""
    if not is_used:
        return param.c_type
    return f"{param.c_type}{'' if param.c_type.endswith('*') else ' '}{param.c_name}"


def answer(param: Param, function: Function, handles: set[str]) -> str | None:
    """The statement that fills an output; None for inputs, and for memory of unknown size."""
    kind, name = param.kind, param.c_name
    if kind.is_a("inout", "count"):
        return f"zero({name})"
    is_typed = param.c_type in ("void *", "void **") and kind.shape in ("attr", "attrlist")
    if kind.direction != "out" or is_typed:
        return None
    if kind.shape == "list":
        count = next((p.c_name for p in function.params if p.c_name == kind.aux), None)
        by_value = count and not next(
            p for p in function.params if p.c_name == count
        ).c_type.endswith("*")
        return f"zero({name}, {count})" if by_value else None
    if kind.shape in ("charbuf", "bytes"):
        return f"zero({name})"
    if kind.shape == "voidp" or (kind.shape == "object" and kind.element in handles):
        return f"store_handle({name})"
    return None if param.c_type == "void *" else f"zero({name})"
