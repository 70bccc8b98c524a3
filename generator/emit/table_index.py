# SPDX-License-Identifier: Apache-2.0
"""Indices of classes, enumerations and attribute tables in their arrays."""

from __future__ import annotations

from ..model import Assembly, Function, Library, Struct
from .packed_texts import PackedTexts


class Index:
    """Index of each class, enumeration and attribute table of a library in its array."""

    def __init__(self, library: Library, texts: PackedTexts):
        self.library = library
        self.texts = texts
        self.functions = [f for f in library.functions if f.in_python]
        self.handles = {h.name: h for h in library.handles}
        self.structs = {s.name: s for s in library.structs}
        self.numpy_structs = {t.name: t for t in library.numpy_structs}
        self.classes = [*self.handles, *self.structs, *self.numpy_structs]
        self.assemblies = number_assemblies(self.functions)
        self.enums = [e.name for e in library.enums]
        self.attributes = sorted(library.attributes)
        self.foreign = {u: Index(other, texts) for u, other in library.uses.items()}

    def declarations(self) -> str:
        """C++ enumerations of the indices, so that records are readable."""
        named = (("class", self.classes), ("enum", self.enums), ("attributes", self.attributes))
        own = "".join(enumerate_names(word, names) for word, names in named if names)
        return own + "".join(self.foreign_indices(name) for name in self.foreign)

    def foreign_indices(self, library: str) -> str:
        """Indices of the classes of another library that this one names as `library.class`."""
        bases = [h.base for h in self.library.handles if h.base]
        values = [k.element for t in self.library.attributes.values() for k in t.values()]
        prefix = f"{library}."
        names = {n.removeprefix(prefix) for n in (*bases, *values) if n.startswith(prefix)}
        classes = self.foreign[library].classes
        lines = "".join(f"  {c} = {i},\n" for i, c in enumerate(classes) if c in names)
        return f"namespace from_{library} {{\nenum class_index : std::int16_t {{\n{lines}}};\n}}\n"

    def reference(self, name: str) -> tuple[str, str]:
        """C++ expressions of a class: its library (null: this one) and its index there."""
        library, _, own = name.rpartition(".")
        if library:
            return f"&{library}_library", f"from_{library}::{own}"
        return "nullptr", f"class_{own}"

    def stored_type(self, handle: str) -> str:
        return self.handles[handle].c_type

    def is_handle(self, name: str) -> bool:
        return name in self.handles

    def is_struct(self, name: str) -> bool:
        return name in self.structs

    def assembly(self, assembly: Assembly) -> int:
        """The index of an assembly among all assemblies."""
        return self.assemblies[id(assembly)]

    def children(self, struct: Struct) -> int:
        """The number of fields of a class, including bases, that are read as views."""
        own = sum(f.kind.shape == "struct" for f in struct.fields)
        return own + (self.children(self.structs[struct.base]) if struct.base else 0)


def number_assemblies(functions: list[Function]) -> dict[int, int]:
    """Map assembly ids to indices. An assembly for older drivers follows the newer assembly."""
    places, count = {}, 0
    for assembly in (p.assembly for f in functions for p in f.params if p.assembly):
        places[id(assembly)] = count
        count += 2 if assembly.older else 1
    return places


def enumerate_names(word: str, names: list[str]) -> str:
    lines = "".join(f"  {word}_{n},\n" for n in names)
    return f"enum {word}_index : std::int16_t {{\n{lines}}};\n"
