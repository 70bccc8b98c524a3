# SPDX-License-Identifier: Apache-2.0
"""Writes the sources for running without a GPU: emulator, null driver, runtime and NVML."""

from __future__ import annotations

from ...model import Library
from . import driver, management, null_driver, runtime


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    files: dict[str, str] = {}
    for emitter in (driver, null_driver, runtime, management):
        files |= emitter.emit(libraries)
    return files
