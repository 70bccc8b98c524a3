# SPDX-License-Identifier: Apache-2.0
"""Finds the CUDA headers in a toolkit or in PyPI's packages, and lists what a source includes."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path

# The headers that declare the functions of the driver and the runtime.
HEADERS = (
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
    """Return the folder whose cuda.h declares that version ("13.5"); by default the newest."""
    versions = {folder: stated_version(folder) for folder in candidates()}
    if version:
        return next((f for f, stated in versions.items() if stated == version), None)
    newest = sorted((tuple(map(int, v.split("."))), str(f)) for f, v in versions.items() if v)
    return Path(newest[-1][1]) if newest else None


def collect(version: str, target: Path) -> Path:
    """Copy those headers to `target`; time stamps change only if the content does.

    Builds use the copies, because an isolated build finds the headers in a new folder each time.
    """
    source = find(version)
    if source is None:
        folders = ", ".join(map(str, candidates()))
        raise SystemExit(f"no headers of CUDA {version}; looked in: {folders}")
    pending = [f"{name}.h" for name in HEADERS]
    copied: set[str] = set()
    while pending:
        name = pending.pop()
        if name in copied or not (source / name).is_file():
            continue
        copied.add(name)
        data = (source / name).read_bytes()
        write(target / name, data)
        pending += INCLUDE.findall(data.decode("utf-8", "replace"))
    return target


def write(copy: Path, data: bytes) -> Path:
    """Write a file unless it has these contents already; return it."""
    if not copy.exists() or copy.read_bytes() != data:
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
    return copy


def archive(name: str, version: str, target: Path) -> Path:
    """Copy a static library ("libcudart_static.a"), found beside the headers, to `target`."""
    source = find(version)
    paths = (
        [source.parent / folder / name for folder in ("lib", "lib64", "lib/x64")] if source else []
    )
    for path in paths:
        if path.is_file():
            return write(target / name, path.read_bytes())
    raise SystemExit(f"no {name} of CUDA {version}; looked for: {', '.join(map(str, paths))}")


def candidates() -> list[Path]:
    """Return the folders in order of preference. A toolkit may have another version."""
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
    match = re.search(r"#define CUDA_VERSION (\d+)", header.read_text("utf-8", "replace"))
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match else ""


class Included:
    """Finds headers in the folders of a compiler's command. Each file is read once."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.headers: dict[Path, frozenset[Path]] = {}

    def by(self, source: Path) -> frozenset[Path]:
        """Return the headers that a file includes, directly or not."""
        if source not in self.headers:
            self.headers[source] = frozenset()  # ends a circle
            direct = {path for name in names_in(source) if (path := self.path_of(name, source))}
            self.headers[source] = direct.union(*map(self.by, direct))
        return self.headers[source]

    def path_of(self, name: str, source: Path) -> Path | None:
        paths = (folder / name for folder in (source.parent, *self.folders))
        return next((path for path in paths if path.is_file()), None)


def names_in(source: Path) -> list[str]:
    return INCLUDE.findall(source.read_text("utf-8", "replace")) if source.exists() else []
