# SPDX-License-Identifier: Apache-2.0
"""Name strings of the capsules in `cy<library>.__pyx_capi__`, which compiled clients compare."""

from __future__ import annotations

import re

from ..decisions import Decisions
from ..facts import FactFunction
from .cython_text import cython_type
from .type_table import TypeTable


def capsule_signature(function: FactFunction, types: TypeTable, decisions: Decisions) -> str:
    """A C function type in Cython's spelling: `CUresult (CUdeviceptr, void const *, size_t)`."""
    params = [spell(p.c_type, types, decisions) for p in function.params]
    if decisions.const_parameters:
        params = [f"{p}const " if p.endswith("*") else f"{p} const " for p in params]
    ret = spell(function.ret, types, decisions)
    return f"{ret}{'' if ret.endswith('*') else ' '}({', '.join(params) or 'void'})"


def spell(c_type: str, types: TypeTable, decisions: Decisions) -> str:
    """`const char *` -> `char const *`; types that the .pxd itself declares are mangled."""
    pointed = cython_type(c_type)
    base = pointed.rstrip("*")
    word = base.removeprefix("const ")
    text = re.sub(r"\blong long\b", "PY_LONG_LONG", word)
    text = "Py_ssize_t" if text == "ssize_t" else text
    if types.is_declared_by_us(word):
        path = [*decisions.package.split("."), f"cy{decisions.library}"]
        text = f"__pyx_t_{''.join(f'{len(part)}{part}_' for part in path)}{word}"
    if tag_word := types.tag_words.get(word):
        text = f"{tag_word} {text}"
    if word != base:
        text += " const"
    return f"{text} {pointed[len(base) :]}".rstrip()
