# SPDX-License-Identifier: Apache-2.0
"""Describes a parameter from its name, its kind and its C type."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ..model import Function, Param
from .words import split

PHRASES = tomllib.loads((Path(__file__).parent / "parameters.toml").read_text())
HANDLE = re.compile(
    r"^(?:const )?(?:CU|cuda|nvml|nvrtc|nvJitLink|nvvm|nvFatbin|cudla|cuFile)_?(\w+?)(?:_t)?\b"
)
HUNGARIAN = re.compile(r"^(?:ph|pp|p|h)(?=[A-Z])|(?:_out|Out|_p)$")


def phrases_of(function: Function) -> dict[str, str]:
    """Map each parameter in Python to the sentence that says what it is."""
    params = {param.name: param for param in function.params if param.kind.is_argument}
    names = [text.partition("=")[0] for text in function.py]
    return {n: phrase_of(params[n]) if n in params else phrase_of_field(n) for n in names}


def section_of(function: Function) -> str:
    """The section of the parameters in a docstring; empty if there are none."""
    return section(phrases_of(function))


def section(phrases: dict[str, str]) -> str:
    lines = "".join(f"\n{name}\n    {text}" for name, text in phrases.items())
    return f"\n\nParameters\n----------{lines}" if lines else ""


def status_check_text(name: str) -> str:
    """The docstring of a function that interprets a status."""
    if "error" in name:
        does = "Returns the text that belongs to a status. Host only."
    else:
        does = "Returns 0, and raises the exception of a status that is an error. Host only."
    return does + section({"status": "Status that a call returned."})


def phrase_of_field(name: str) -> str:
    """The sentence of an argument that sets a field of a struct."""
    return PHRASES["names"].get(name) or f"{capitalized(in_words(name))}."


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
    return f"{capitalized(words)}{details(param)}."


def capitalized(words: str) -> str:
    """`vGPU` and its like keep their first letter."""
    return words if words[1:2].isupper() else f"{words[0].upper()}{words[1:]}"


def details(param: Param) -> str:
    """The class of an enumeration or a struct, after its words."""
    if param.kind.shape in ("enum", "struct", "struct*"):
        return f", a ``{param.kind.element}``"
    return ""


def words_of(param: Param) -> str:
    """The words of the name, or of the type of a handle whose name says less."""
    words = in_words(HUNGARIAN.sub("", param.c_name))
    if param.kind.shape == "handle" and (len(words) < 4 or words in PHRASES["short"]):
        match = HANDLE.match(param.c_type)
        words = PHRASES["types"].get(match[1], words) if match else words
    return words


def in_words(name: str) -> str:
    """`dstCtx` -> `destination context`."""
    parts = (part.lower() for part in split(name))
    return " ".join(PHRASES["words"].get(part, part) for part in parts)
