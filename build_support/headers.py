# SPDX-License-Identifier: Apache-2.0
"""Finds the CUDA headers: a toolkit that the environment names, or the header packages of PyPI."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

# What declares the functions of the driver and of the runtime.
WANTED = (
    "cuda",
    "cudaProfiler",
    "cudaEGL",
    "cudaGL",
    "cudaVDPAU",
    "cuda_runtime_api",
    "cuda_profiler_api",
    "cuda_egl_interop",
    "cuda_gl_interop",
    "cuda_vdpau_interop",
)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)


def find(version: str = "") -> Path | None:
    """The folder whose cuda.h states that version ("13.5"); without one, the newest there is."""
    found = {folder: stated_version(folder) for folder in candidates()}
    if version:
        return next((f for f, stated in found.items() if stated == version), None)
    newest = sorted((tuple(map(int, v.split("."))), str(f)) for f, v in found.items() if v)
    return Path(newest[-1][1]) if newest else None


def collect(version: str, target: Path) -> Path:
    """Copies of those headers in `target`, whose time stamps change only with their bytes.

    Builds take the copies: an isolated build finds the headers in another folder each time.
    """
    source = find(version)
    if source is None:
        looked = ", ".join(map(str, candidates()))
        raise SystemExit(f"no headers of CUDA {version}; looked in: {looked}")
    pending = [f"{name}.h" for name in WANTED]
    done: set[str] = set()
    while pending:
        name = pending.pop()
        if name in done or not (source / name).is_file():
            continue
        done.add(name)
        data, copy = (source / name).read_bytes(), target / name
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
        pending += INCLUDE.findall(data.decode("utf-8", "replace"))
    return target


def archive(name: str, version: str) -> Path:
    """A static library ("libcudart_static.a") that lies beside the headers of that version."""
    source = find(version)
    looked = (
        [source.parent / folder / name for folder in ("lib", "lib64", "lib/x64")] if source else []
    )
    for path in looked:
        if path.is_file():
            return path
    raise SystemExit(f"no {name} of CUDA {version}; looked for: {', '.join(map(str, looked))}")


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
