# SPDX-License-Identifier: Apache-2.0
"""Describes a parameter from its name, its kind and its C type."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ..model import Param
from .words import split

PHRASES = tomllib.loads((Path(__file__).parent / "parameters.toml").read_text())
HANDLE = re.compile(
    r"^(?:const )?(?:CU|cuda|nvml|nvrtc|nvJitLink|nvvm|nvFatbin|cudla|cuFile)_?(\w+?)(?:_t)?\b"
)
HUNGARIAN = re.compile(r"^(?:ph|pp|p|h)(?=[A-Z])|(?:_out|Out|_p)$")


def phrase_of(param: Param) -> str:
    """Return a sentence that says what an argument is."""
    kind = param.kind
    if kind.is_a("inout", "count"):
        return "Most elements to return."
    named = PHRASES["names"].get(param.c_name)
    if named:
        return named
    words = words_of(param)
    if kind.shape.startswith(("list", "attrlist")):
        return f"Sequence of {words}."
    if kind.shape == "callback":
        return "Function that is called."
    if "buffer" in kind.shape:
        return f"Memory of the caller with the {words}."
    return f"{words[0].upper()}{words[1:]}{details(param)}."


def details(param: Param) -> str:
    """The class of an enumeration or a struct, after its words."""
    if param.kind.shape in ("enum", "struct", "struct*"):
        return f", a ``{param.kind.element}``"
    return ""


def words_of(param: Param) -> str:
    """The words of the name, or of the type of a handle whose name says less."""
    parts = [part.lower() for part in split(HUNGARIAN.sub("", param.c_name))]
    words = " ".join(PHRASES["words"].get(part, part) for part in parts)
    if param.kind.shape == "handle" and (len(words) < 4 or words in PHRASES["short"]):
        match = HANDLE.match(param.c_type)
        words = PHRASES["types"].get(match[1], words) if match else words
    return words
