# SPDX-License-Identifier: Apache-2.0
"""Themes of functions in the headers and in NVIDIA's manuals, and links to the manuals."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..model import Function

MANUALS = {
    "driver": "cuda/cuda-driver-api/",
    "runtime": "cuda/cuda-runtime-api/",
    "nvrtc": "cuda/nvrtc/",
    "nvjitlink": "cuda/nvjitlink/",
    "nvvm": "cuda/libnvvm-api/",
    "nvfatbin": "cuda/nvfatbin/",
    "nvml": "deploy/nvml-api/",
    "cufile": "gpudirect-storage/api-reference-guide/",
    "cudla": "cuda/cudla-api/",
}
WITH_A_PAGE_FOR_EACH = ("driver", "runtime")
GROUP = re.compile(r"\\(?:defgroup|addtogroup) (\w+) ([^\n*]+)")
DECLARATION = re.compile(r"\b((?:cu|nv)\w+)\s*\(")
OTHERS = ("", "Others")


def manual_of(module: str) -> str:
    """The address of NVIDIA's manual of a module."""
    return f"https://docs.nvidia.com/{MANUALS[module]}"


def page_of(module: str, group: str) -> str:
    """The address of a theme's Doxygen page; of the manual if themes have no pages."""
    manual = manual_of(module)
    if not group or module not in WITH_A_PAGE_FOR_EACH:
        return manual
    return f"{manual}group__{group.replace('_', '__')}.html"


def by_theme(
    functions: Iterable[Function], headers: Path | None
) -> Mapping[tuple[str, str], list[Function]]:
    """(group, title) -> its functions, the themes in the order of the headers.

    Without headers, all are `OTHERS`.
    """
    known: dict[str, dict[str, tuple[str, str]]] = {}
    themes: dict[tuple[str, str], list[Function]] = {}
    for function in functions:
        header = function.header
        if header not in known:
            known[header] = groups_in(headers / header if headers else None)
            themes |= {group: themes.get(group, []) for group in known[header].values()}
        themes.setdefault(known[header].get(function.name, OTHERS), []).append(function)
    themes[OTHERS] = themes.pop(OTHERS, [])  # at the end
    return {group: members for group, members in themes.items() if members}


def groups_in(header: Path | None) -> dict[str, tuple[str, str]]:
    """Map C functions to their groups, by the position of the declaration in a header."""
    if header is None or not header.is_file():
        return {}
    text = header.read_text("utf-8", "replace")
    groups = [(m.end(), (m[1], corrected(m[2]))) for m in GROUP.finditer(text)]
    starts = [start for start, _ in groups]
    code = re.sub(r"/\*.*?\*/", lambda m: " " * len(m[0]), text, flags=re.S)
    members: dict[str, tuple[str, str]] = {}
    for declared in DECLARATION.finditer(code):
        place = bisect(starts, declared.start()) - 1
        if place >= 0:
            members.setdefault(declared[1], groups[place][1])
    return members


def corrected(title: str) -> str:
    """A title of a header, with misspellings corrected."""
    words = " ".join(word for word in title.split() if word != "[DEPRECATED]")
    return re.sub(r"gment\b", "gement", words) + (", deprecated" if "[DEPRECATED]" in title else "")
