# SPDX-License-Identifier: Apache-2.0
"""What headers of function pointer types (`cudaTypedefs.h`) say of the releases of a function."""

from __future__ import annotations

import re
from collections.abc import Iterable

# CUDA numbers of a function by base name: number -> C types of its parameters there.
Releases = dict[str, dict[int, tuple[str, ...]]]


def read(texts: Iterable[str]) -> Releases:
    """From typedefs such as `CUresult (CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags)`.

    Variants for per-thread streams have typedefs of their own, which add nothing here."""
    found: Releases = {}
    pattern = r"PFN_(\w+?)_v(\d+)\)\s*\(([^;]*)\)\s*;"
    for text in texts:
        for name, number, parameters in re.findall(pattern, text):
            types = tuple(parameter_type(p) for p in parameters.split(","))
            found.setdefault(name, {})[int(number)] = types
    return found


def parameter_type(declaration: str) -> str:
    """`const CUgraphNode *from` -> `const CUgraphNode *`."""
    words = " ".join(declaration.split())
    return words if words == "void" else re.sub(r"\s*\w+((?:\[\d*\])*)$", r"\1", words)


def release(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def number(release: str) -> int:
    major, _, minor = release.partition(".")
    return int(major) * 1000 + int(minor) * 10 if release else 0


def equal_and_older(variants: dict[int, tuple[str, ...]], newest: int) -> list[int]:
    """Numbers of older variants that take the same C types, in ascending order."""
    wanted = variants.get(newest)
    return sorted(n for n, types in variants.items() if n < newest and types == wanted)
