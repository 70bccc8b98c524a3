# SPDX-License-Identifier: Apache-2.0
"""Reads releases of functions from headers of function pointer types (`cudaTypedefs.h`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Base name of a function -> CUDA number of a variant -> C types of its parameters.
Releases = dict[str, dict[int, tuple[str, ...]]]


def read(texts: Iterable[str]) -> Releases:
    """Read typedefs such as `CUresult (CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags)`.

    Typedefs of variants for per-thread streams add no information."""
    variants: Releases = {}
    pattern = r"PFN_(\w+?)_v(\d+)\)\s*\(([^;]*)\)\s*;"
    for text in texts:
        for name, number, parameters in re.findall(pattern, text):
            types = tuple(parameter_type(p) for p in parameters.split(","))
            variants.setdefault(name, {})[int(number)] = types
    return variants


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
    """Numbers of older variants with the same C types, in ascending order."""
    expected = variants.get(newest)
    return sorted(n for n, types in variants.items() if n < newest and types == expected)
