# SPDX-License-Identifier: Apache-2.0
"""Generated files of `cuda.core` for clients: type stubs, `.pxd` aliases, C++ headers."""

from __future__ import annotations

from pathlib import Path

from . import cimport_aliases, native_headers, old_modules, stubs


def emit(root: Path, generated: dict[str, str]) -> dict[str, str]:
    """Map paths below the root to texts. `generated` contains the files of the low layer."""
    return {
        **stubs.emit(root),
        **cimport_aliases.emit(root),
        **old_modules.emit(root),
        **native_headers.emit(root, generated),
    }
