# SPDX-License-Identifier: Apache-2.0
"""Where the classes, enumerations and attribute tables of a library stand in their arrays."""

from __future__ import annotations

from ..model import Library, Struct


class Index:
    """Where each class, enumeration and attribute table of a library stands in its array."""

    def __init__(self, library: Library):
        self.library = library
        self.functions = [f for f in library.functions if f.in_python]
        self.handles = {h.name: h for h in library.handles}
        self.structs = {s.name: s for s in library.structs}
        self.classes = [*self.handles, *self.structs]
        self.enums = [e.name for e in library.enums]
        self.attributes = sorted(library.attributes)

    def declarations(self) -> str:
        """Named indices, so that the records read as what they mean."""
        named = (("class", self.classes), ("enum", self.enums), ("attributes", self.attributes))
        return "".join(enumerate_names(word, names) for word, names in named if names)

    def stored_type(self, handle: str) -> str:
        return self.handles[handle].c_type

    def is_handle(self, name: str) -> bool:
        return name in self.handles

    def is_struct(self, name: str) -> bool:
        return name in self.structs

    def children(self, struct: Struct) -> int:
        """Fields of a class, bases included, that are shown by objects of their own."""
        own = sum(f.kind.startswith("struct:") for f in struct.fields)
        return own + (self.children(self.structs[struct.base]) if struct.base else 0)


def enumerate_names(word: str, names: list[str]) -> str:
    lines = "".join(f"  {word}_{n},\n" for n in names)
    return f"enum {word}_index : std::int16_t {{\n{lines}}};\n"
