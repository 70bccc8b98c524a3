# SPDX-License-Identifier: Apache-2.0
"""Writes the exported API of emulated NVML, and its error texts."""

from __future__ import annotations

from ...model import Library
from ..slots_hpp import first_line
from .front import Front

FOLDER = "emulated_nvml"
HANDLES = ("nvmlDevice_t", "nvmlGpuInstance_t", "nvmlComputeInstance_t")


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    if "nvml" not in libraries:  # another project
        return {}
    nvml = libraries["nvml"]
    files = Front(nvml, FOLDER, nvml.functions, handles=HANDLES).files()
    return files | {f"build/generated/{FOLDER}/error_text.cpp": error_texts(nvml)}


def error_texts(library: Library) -> str:
    """The text of each code: `NVML_ERROR_NOT_SUPPORTED` -> "Not Supported"."""
    results = next(e for e in library.enums if e.c_name == library.decisions.result_enum)
    codes = {m.value: m.c_name for m in reversed(results.members)}
    rows = "".join(
        f'    case {name}:\n      return "{in_words(name)}";\n' for _, name in sorted(codes.items())
    )
    return f"""{first_line([library])}
#include "{FOLDER}/api/error_text.hpp"

namespace halfwarp::{FOLDER}::api {{

const char* error_text(nvmlReturn_t code) noexcept {{
  switch (code) {{
{rows}    default:
      return "Unknown Error";
  }}
}}

}}  // namespace halfwarp::{FOLDER}::api
"""


def in_words(name: str) -> str:
    return name.removeprefix("NVML_").removeprefix("ERROR_").replace("_", " ").title()
