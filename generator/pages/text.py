# SPDX-License-Identifier: Apache-2.0
"""Pieces of reStructuredText."""

from __future__ import annotations

import re

from ..model import Library


def title(text: str, underline: str = "-") -> str:
    return f"{text}\n{underline * len(text)}\n"


def head(library: Library, text: str) -> str:
    """The title of a page, and the module of its names."""
    module = f"{library.package}.{library.module}"
    return f"{title(f'{library.module}: {text}', '=')}\n.. py:currentmodule:: {module}\n"


def directive(kind: str, signature: str, lines: list[str]) -> str:
    """A described object, with its description indented."""
    body = "".join(f"   {line}\n" if line else "\n" for line in lines)
    return f".. py:{kind}:: {signature}\n   :no-index-entry:\n\n{body}"


def escaped(text: str) -> str:
    """Plain text with markup escaped."""
    for mark in ("\\", "*", "`", "|"):
        text = text.replace(mark, f"\\{mark}")
    return re.sub(r"_(?=\W|$)", r"\\_", text)  # would be a reference


def plain_type(text: str) -> str:
    """A type for readers, without parts for type checkers."""
    for written, read in (
        (" | _NoneOnError", ""),
        ("SupportsIndex", "int"),
        ("builtins.bytes", "bytes"),
        ("_Address", "int | Buffer | None"),
        ("_KernelParams", "tuple | int | Buffer | None"),
        ("_Options", "list[str] | list[bytes]"),
    ):
        text = text.replace(written, read)
    return text
