# SPDX-License-Identifier: Apache-2.0
"""Writes the declarations for Cython clients, and the modules that they call."""

from __future__ import annotations

from ...model import Library
from . import c_headers, class_pxd, cy_pxd, cy_pyx, function_pxd


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    tables = {name: lib for name, lib in libraries.items() if not lib.is_face}
    files = function_pxd.emit(libraries)
    for emitter in (c_headers, class_pxd, cy_pxd, cy_pyx):
        files |= emitter.emit(tables)
    return files
