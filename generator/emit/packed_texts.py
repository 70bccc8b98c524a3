# SPDX-License-Identifier: Apache-2.0
"""Texts of generated tables, packed into one array that the records index."""

from __future__ import annotations

COMMENTED = 60


class PackedTexts:
    """Concatenated texts without duplicates: a record holds the offset of its text.

    The dynamic linker relocates each pointer in a constant table, which costs time, a private copy
    of the page, and 24 bytes of the file; an offset costs four bytes.
    """

    def __init__(self):
        self.starts = {"": 0}
        self.length = 1

    def __call__(self, text: str) -> str:
        """The C++ initializer of a `packed_text`, with a short text as a comment."""
        if text not in self.starts:
            self.starts[text] = self.length
            self.length += len(text.encode()) + 1
        shown = text.isprintable() and "*/" not in text and 0 < len(text) <= COMMENTED
        return f"{self.starts[text]} /* {text} */" if shown else str(self.starts[text])

    def source(self, origin: str, header: str, namespace: str, name: str) -> str:
        """The C++ file that defines the array."""
        lines = "\n".join(f'    "{escaped(text)}\\0"' for text in self.starts)
        return (
            f'{origin}#include "{header}"\n\nnamespace {namespace} {{\n\n'
            f"constinit const char {name}[] =\n{lines};\n\n}}  // namespace {namespace}\n"
        )


def escaped(text: str) -> str:
    """The text escaped for a C literal."""
    return "".join(map(escaped_byte, text.encode()))


def escaped_byte(byte: int) -> str:
    is_plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if is_plain else f"\\{byte:03o}"
