# SPDX-License-Identifier: Apache-2.0
"""Pieces of C++ text that the table emitters share."""

from __future__ import annotations

import json

from ..model import Library


def quoted(text: str) -> str:
    """A C string literal."""
    return json.dumps(text, ensure_ascii=True)


def dotted(library: Library, name: str) -> str:
    return f"{library.package}.{library.module}.{name}"
