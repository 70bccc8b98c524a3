# SPDX-License-Identifier: Apache-2.0
"""Pieces of reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model import Library

Sections = Iterable[tuple[str, list[str]]]  # headings, which may be empty, and entries


def title(text: str, underline: str = "-") -> str:
    return f"{text}\n{underline * len(text)}\n"


GUIDE = "Guide: :doc:`/guide/low_level`.\n"
PAGE = 30_000  # characters of a page; a browser gets up to nine times as many


def paged(library: Library, text: str, sections: Sections) -> list[str]:
    """The pages with these sections. A section that is divided repeats its title."""
    pages: list[list[str]] = [[]]
    size = 0
    for heading, entries in sections:
        named = False
        for entry in entries:
            if size and size + len(entry) > PAGE:
                pages.append([])
                size, named = 0, False
            if heading and not named:
                pages[-1].append(title(heading))
            named = True
            pages[-1].append(entry)
            size += len(entry)
    count = len(pages)
    heads = [f"{text} ({n} of {count})" if count > 1 else text for n in range(1, count + 1)]
    return ["\n".join([head(library, h), *page]) for h, page in zip(heads, pages, strict=True)]


def head(library: Library, text: str) -> str:
    """The title of a page, its guide, and the module of its names."""
    module = f"{library.package}.{library.module}"
    heading = title(f"{library.module}: {text}", "=")
    return f"{heading}\n{GUIDE}\n.. py:currentmodule:: {module}\n"


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
