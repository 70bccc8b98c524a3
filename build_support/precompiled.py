# SPDX-License-Identifier: Apache-2.0
"""Headers that a first build parses once for each set of flags, not once for each file.

The emulator has 270 small files, and headers take two thirds of their compilation. The standard
library is one part of that, the state of the driver another: a quarter of the files include it.
The compiler's list of the headers that a file includes lacks precompiled ones, so the build
completes the list.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

STANDARD = """algorithm array atomic bit charconv chrono cmath concepts condition_variable cstddef
cstdint cstdio cstdlib cstring deque functional iterator limits map memory mutex new optional set
shared_mutex span string string_view system_error thread tuple type_traits unordered_map utility
vector"""
FEWEST = 20  # files: fewer take as long without


class Headers:
    """The precompiled headers of one build, removed at its end: each has 70 to 120 MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths: dict[tuple[str, ...], Path] = {}

    def __enter__(self) -> Headers:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, command: Sequence[str], files: int, common: str = "") -> None:
        """Precompile for a command, which many files share, and for their common header."""
        if files < FEWEST or not is_supported(command[0]):
            return
        key = (*command, common)
        folder = self.folder / str(abs(hash(key)))
        folder.mkdir(parents=True, exist_ok=True)
        header = folder / "precompiled.hpp"
        names = [f"<{name}>" for name in STANDARD.split()] + ([f'"{common}"'] if common else [])
        header.write_text("".join(f"#include {name}\n" for name in names))
        listing = ["-MMD", "-MF", str(header.with_suffix(".d"))]
        output = f"{header}.gch"
        subprocess.run(
            [*command, *listing, "-x", "c++-header", str(header), "-o", output], check=True
        )
        self.paths[key] = header

    def header(self, command: Sequence[str], common: str = "") -> Path | None:
        """Return the header that a file with this command includes first."""
        return self.paths.get((*command, common)) or self.paths.get((*command, ""))


def options(header: Path | None) -> list[str]:
    """Return the arguments that include a precompiled header."""
    return ["-include", str(header)] if header else []


def complete(listing: Path, header: Path | None) -> None:
    """Add the headers that were precompiled to the compiler's list of a file."""
    if header is None:
        return
    names = [n for n in dependencies(header.with_suffix(".d")) if Path(n) != header]
    listing.write_text(" \\\n ".join([listing.read_text().rstrip(), *names]) + "\n")


def dependencies(listing: Path) -> list[str]:
    """Return the files that the compiler listed for a makefile."""
    return listing.read_text().replace("\\\n", " ").split(":", 1)[1].split()


def is_supported(compiler: str) -> bool:
    """Return whether it is GCC itself: ccache keeps no result with precompiled headers."""
    path = Path(shutil.which(compiler) or compiler).resolve()
    return "ccache" not in path.name and "g++" in path.name and "clang" not in path.name
