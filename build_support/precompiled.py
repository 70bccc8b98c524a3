# SPDX-License-Identifier: Apache-2.0
"""Standard headers that a first build parses once for each set of flags, not once for each file.

The emulator has 270 small files, a third of whose compilation is the standard library. The objects
have the same bytes. Headers of CUDA and of this repository are not precompiled, because the
compiler's list of the headers that a file includes would lack them.
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
FEWEST = 30  # files: fewer take as long without


class Headers:
    """The precompiled headers of one build, removed at its end: each has 70 MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths: dict[tuple[str, ...], Path] = {}

    def __enter__(self) -> Headers:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, command: Sequence[str], files: int) -> None:
        """Precompile for a command, which many files share."""
        if files < FEWEST or not is_supported(command[0]):
            return
        folder = self.folder / str(abs(hash(tuple(command))))
        folder.mkdir(parents=True, exist_ok=True)
        header = folder / "standard.hpp"
        header.write_text("".join(f"#include <{name}>\n" for name in STANDARD.split()))
        compiling = [*command, "-x", "c++-header", str(header), "-o", f"{header}.gch"]
        subprocess.run(compiling, check=True)
        self.paths[tuple(command)] = header

    def options(self, command: Sequence[str]) -> list[str]:
        """Return the arguments that include the headers; none if they are not precompiled."""
        header = self.paths.get(tuple(command))
        return ["-include", str(header)] if header else []


def is_supported(compiler: str) -> bool:
    """Return whether it is GCC itself: ccache keeps no result with precompiled headers."""
    path = Path(shutil.which(compiler) or compiler).resolve()
    return "ccache" not in path.name and "g++" in path.name and "clang" not in path.name
