# SPDX-License-Identifier: Apache-2.0
"""Finds the CUDA headers: a toolkit that the environment names, or the header packages of PyPI."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path


def find(version: str = "") -> Path | None:
    """The folder whose cuda.h states that version ("13.5"); without one, the newest there is."""
    found = {folder: stated_version(folder) for folder in candidates()}
    if version:
        return next((f for f, stated in found.items() if stated == version), None)
    newest = sorted((tuple(map(int, v.split("."))), str(f)) for f, v in found.items() if v)
    return Path(newest[-1][1]) if newest else None


def candidates() -> list[Path]:
    """In order of preference. A toolkit of another version may be set for other programs' sake."""
    roots = [os.environ.get(name) for name in ("CUDA_PATH", "CUDA_HOME")]
    spec = importlib.util.find_spec("nvidia")
    packages = spec.submodule_search_locations if spec else None
    return [
        *(Path(root) / "include" for root in roots if root),
        *(Path(path) / "cu13" / "include" for path in packages or ()),
    ]


def stated_version(folder: Path) -> str:
    header = folder / "cuda.h"
    if not header.exists():
        return ""
    found = re.search(r"#define CUDA_VERSION (\d+)", header.read_text("utf-8", "replace"))
    return f"{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}" if found else ""
