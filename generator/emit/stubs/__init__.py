# SPDX-License-Identifier: Apache-2.0
"""Writes `<library>.pyi`: type stubs for the modules of the low layer."""

from __future__ import annotations

from ...model import Library
from .exceptions import ExceptionsWriter
from .status_codes import StatusCodesWriter


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {f"{lib.folder}/{lib.module}.pyi": writer_of(lib).module() for lib in libraries.values()}


def writer_of(library: Library) -> StatusCodesWriter | ExceptionsWriter:
    return ExceptionsWriter(library) if library.raises else StatusCodesWriter(library)
