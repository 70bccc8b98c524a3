# SPDX-License-Identifier: Apache-2.0
"""C declarations in Cython's spelling."""

from __future__ import annotations

import re


def cython_type(c_type: str) -> str:
    """`const char *const *` -> `const char**`, `void *const *` -> `const void**`.

    `const` is first and occurs once, and a raw function pointer is an address: compiled clients
    depend on these declarations."""
    if "(*)" in c_type:
        return "void*"
    if re.search(r"\*\s*const\b", c_type) and not c_type.startswith("const "):
        c_type = f"const {c_type}"
    return re.sub(r"\s*\*\s*(const\b)?\s*", "*", c_type).strip()


def declare(c_type: str, name: str) -> str:
    """A member or parameter: `unsigned int[4]`, `pad` -> `unsigned int pad[4]`."""
    if "(*)" in c_type:
        return c_type.replace("(*)", f"(*{name})")
    element, bracket, extent = c_type.partition("[")
    return f"{cython_type(element)} {name}{bracket}{extent}"


def declare_callback(name: str, target: str) -> str:
    """`void (*)(void *)` -> `void (*CUhostFn)(void*)`."""
    ret, _, params = target.partition("(*)")
    inner = ", ".join(cython_type(p.strip()) for p in params.strip("()").split(","))
    return f"{cython_type(ret.strip())} (*{name})({inner})"
