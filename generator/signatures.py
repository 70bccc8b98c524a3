# SPDX-License-Identifier: Apache-2.0
"""The name strings of the capsules in `cy<library>.__pyx_capi__`: what compiled clients compare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .decisions import Decisions
from .facts import FactFunction

if TYPE_CHECKING:
    from .resolve import TypeTable


def capsule_signature(function: FactFunction, types: TypeTable, decisions: Decisions) -> str:
    """As Cython spells a C function type: `CUresult (CUdeviceptr, void const *, size_t)`."""
    params = [spell(p.c_type, types, decisions) for p in function.params]
    ret = spell(function.ret, types, decisions)
    return f"{ret}{'' if ret.endswith('*') else ' '}({', '.join(params) or 'void'})"


def spell(c_type: str, types: TypeTable, decisions: Decisions) -> str:
    """`const char *` -> `char const *`; constness of a pointer itself and raw function types are dropped,
    as in the declarations that clients were compiled against. What the .pxd itself declares is mangled."""
    if "(*)" in c_type:
        return "void *"
    c_type = re.sub(r"\*\s*const\b", "*", c_type).replace("* *", "**")
    constant = re.fullmatch(r"const ([\w ]+?)( ?\*.*)?", c_type)
    if constant:
        c_type = f"{constant.group(1)} const{constant.group(2) or ''}"
    c_type = re.sub(r"\blong long\b", "PY_LONG_LONG", c_type)
    base = re.match(r"[\w ]*?(\w+)(?= const|\s*\*|$)", c_type)
    if base and types.header_of(base.group(1)) in decisions.module_scope:
        prefix = f"__pyx_t_4cuda_8bindings_{len('cy' + decisions.library)}cy{decisions.library}_"
        c_type = c_type.replace(base.group(1), prefix + base.group(1), 1)
    return c_type
