# SPDX-License-Identifier: Apache-2.0
"""Copies the C++ headers of the `.pxd` files of `cuda.core` to one folder for the wheels."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = "cuda/core/_include"
PUBLIC = Path("cpp/python/foreign/utility.hpp")  # included by clients directly, without a folder
ONCE = "#pragma once\n"
QUIET = "#pragma GCC system_header\n"  # suppresses warnings in clients' builds
EXTERN = re.compile(r'^\s*cdef extern from "([^"]+)"', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def emit(root: Path, generated: dict[str, str]) -> dict[str, str]:
    """The headers that the declarations name, and the headers that they include."""
    copies: dict[str, str] = {}
    pending = [
        name for path in (root / "cuda/core").rglob("*.pxd") for name in EXTERN.findall(read(path))
    ]
    while pending:
        name = pending.pop()
        if f"{FOLDER}/{name}" in copies:
            continue
        text = own_header(root, generated, name)
        if text is not None:
            copies[f"{FOLDER}/{name}"] = text.replace(ONCE, ONCE + QUIET, 1)
            pending += INCLUDE.findall(text)
    copies[f"{FOLDER}/{PUBLIC.name}"] = read(root / PUBLIC)
    return dict(sorted({**copies, **foreign_types(root)}.items()))


def remove_stale(root: Path, files: dict[str, str]) -> None:
    """Remove unused copies of an earlier run: wheels contain the whole folder."""
    for path in (root / FOLDER).rglob("*"):
        if path.is_file() and path.relative_to(root).as_posix() not in files:
            path.unlink()


def own_header(root: Path, generated: dict[str, str], name: str) -> str | None:
    """The text of a header of this repository; None for a CUDA or system header."""
    if text := generated.get(f"build/generated/{name}"):
        return text
    path = root / "cpp" / name
    return read(path) if path.is_file() else None


def foreign_types(root: Path) -> dict[str, str]:
    """The headers with the few types of graphics libraries that CUDA's headers use."""
    folder = root / "cpp/driver/foreign"
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {f"{FOLDER}/{path.relative_to(folder).as_posix()}": read(path) for path in paths}


def read(path: Path) -> str:
    return path.read_text("utf-8")
