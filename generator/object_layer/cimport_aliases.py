# SPDX-License-Identifier: Apache-2.0
"""Writes `.pxd` files at old paths of `cuda.core`, from the table of old module paths."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ..model import origin_of
from . import cython_source

EXTENSIONS = ("_core", "_compile", "_graph", "_resources", "_views")
TABLE = "cuda/core/_forwarding.py"
CAPI = "cuda/core/capi.pxd"
# Declarations that clients cimport from another path.
COPIES = {
    "_dlpack": "cuda/core/memory/buffers/dlpack_types.pxd",
    "_resource_handles": "cuda/core/driver/handles/resource_handles.pxd",
}
HEAD = f"# {origin_of('cuda/core/_forwarding.py')}\n"
CLASS = re.compile(r"^cdef class (\w+)", re.M)
FUNCTION = re.compile(
    r"^(?:cdef (?:inline )?[\w* ]+?\b|    )(\w+)[(,]", re.M
)  # or a cimported name


def emit(root: Path) -> dict[str, str]:
    homes = {}
    for extension in EXTENSIONS:
        text = cython_source.read(root / f"cuda/core/{extension}.pxd")
        homes |= dict.fromkeys(CLASS.findall(text), f"cuda.core.{extension}")
    functions = [f for f in FUNCTION.findall((root / CAPI).read_text("utf-8")) if f not in homes]
    files = {}
    for module, names in literal(root / TABLE, "MODULES").items():
        if "." in module:
            continue  # a .pxd in a folder would turn the folder into an empty package
        classes = [name for name in names.split() if name in homes]
        lines = [f"from {homes[name]} cimport {name}\n" for name in classes]
        lines += [
            f"from cuda.core.capi cimport {function}\n"
            for function in functions
            if function.split("_")[0] in classes or function in names.split()
        ]
        if lines:
            files[f"cuda/core/{module}.pxd"] = HEAD + "".join(lines)
    for module, source in COPIES.items():
        text = (root / source).read_text("utf-8")
        files[f"cuda/core/{module}.pxd"] = f"# {origin_of(source)}\n{text}"
    classes = [name for name in homes if name in public_names(root)]
    exported = [f"from {homes[name]} cimport {name}\n" for name in classes]
    files["cuda/core/__init__.pxd"] = HEAD + "".join(exported)
    return files


def public_names(root: Path) -> set[str]:
    homes = literal(root / "cuda/core/__init__.py", "_HOMES")
    return {name for names in homes.values() for name in names.split()}


def literal(path: Path, name: str) -> dict[str, str]:
    """A constant of a module, read without importing it."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return ast.literal_eval(statement.value)
    raise SystemExit(f"generator: {path} has no {name}")
