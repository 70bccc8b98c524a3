# SPDX-License-Identifier: Apache-2.0
"""Writes C declarations of libraries, so that neither the build nor cimport needs their headers.

They have the include guard of the real header, so that the first one included replaces the other.
"""

from __future__ import annotations

import re

from ...api_file import join_declaration
from ...facts import FactEnum, FactField, FactRecord, FactTypedef
from ...model import Function, Library

INDENT = "  "


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {
        f"build/generated/headers/{header}": f"/* {library.origin} */\n{text}"
        for library in libraries.values()
        if library.decisions.declares_itself
        for header, text in Declarations(library).headers().items()
    }


def verbatim(library: Library) -> str:
    """The declarations of all headers of a library, for clients of its .pxd."""
    return "".join(Declarations(library).headers().values())


class Declarations:
    """The declarations of a header, from the facts."""

    def __init__(self, library: Library):
        self.library = library
        self.words = tag_words(library.facts.types)
        self.words |= {name: f"struct {name}" for name in library.decisions.foreign_structs}

    def headers(self) -> dict[str, str]:
        """Text by name of the header."""
        return {header: self.text(header) for header in self.library.facts.headers}

    def text(self, header: str) -> str:
        guard = self.library.facts.guards[header]
        lib = self.library
        lines = [f"#include <{name}>" for name in (*lib.decisions.includes, *lib.decisions.before)]
        lines += [f"#define {c.name} {constant(c)}" for c in lib.constants if c.header == header]
        for item in lib.facts.types:
            lines += self.type_lines(item) if item.header == header else []
        functions = [self.function(f) for f in lib.functions if f.header == header]
        body = [*lines, '#ifdef __cplusplus\nextern "C" {\n#endif', *functions]
        end = "#ifdef __cplusplus\n}\n#endif\n#endif\n"
        return "\n".join([f"#ifndef {guard}\n#define {guard}", *body, end])

    def type_lines(self, item: FactRecord | FactEnum | FactTypedef) -> list[str]:
        if isinstance(item, FactEnum):
            members = [f"{INDENT}{name} = {value}," for name, value in item.members]
            return enclosed(item.word, item.tag, members)
        if isinstance(item, FactRecord):
            attribute = f" __attribute__((aligned({item.alignment})))" if item.alignment else ""
            return enclosed(item.word, item.tag, self.fields(item.fields, INDENT), attribute)
        if item.word == "define":
            return [f"#define {item.name} {item.target}"]
        return [f"typedef {self.declare(item.target, item.name)};"]

    def fields(self, fields: list[FactField], indent: str) -> list[str]:
        lines = []
        for field in fields:
            if field.record is None:
                lines.append(f"{indent}{self.declare(field.c_type, field.name)};")
                continue
            inner = self.fields(field.record.fields, indent + INDENT)
            name = f" {field.name}{field.c_type}" if field.name else ""
            lines += [f"{indent}{field.record.word} {{", *inner, f"{indent}}}{name};"]
        return lines

    def function(self, function: Function) -> str:
        params = ", ".join(self.declare(p.c_type, p.c_name) for p in function.params)
        return f"{self.declare(function.ret, function.c_name)}({params or 'void'});"

    def declare(self, c_type: str, name: str) -> str:
        """`_nvvmProgram *` and `nvvmProgram` -> `struct _nvvmProgram *nvvmProgram`."""
        spelled = re.sub(r"\w+", lambda m: self.words.get(m[0], m[0]), c_type)
        if "(*" in spelled:
            return re.sub(r"\(\*+", lambda m: m[0] + name, spelled, count=1)
        if spelled.endswith(")"):  # a function type
            ret, _, params = spelled.partition("(")
            return f"{ret.rstrip()} {name}({params}"
        return join_declaration(spelled, name)


def tag_words(declarations: list) -> dict[str, str]:
    """Map each name that is only a tag to `struct NAME`, which C requires."""
    typedefs = {i.name for i in declarations if isinstance(i, FactTypedef)}
    typedefs |= {i.tag for i in declarations if getattr(i, "word", "").startswith("typedef ")}
    words = {}
    for item in declarations:
        if isinstance(item, FactTypedef) and item.word == "opaque":
            target = item.target.rstrip("* ").removeprefix("const ")
            words[target] = f"struct {target}"
        elif not isinstance(item, FactTypedef) and not item.word.startswith("typedef "):
            words[item.tag] = f"{item.word} {item.tag}"
    return {n: w for n, w in words.items() if n not in typedefs and n != "void"}


def enclosed(word: str, tag: str, members: list[str], attribute: str = "") -> list[str]:
    """The lines of a type with members; a typedef has no tag."""
    if word.startswith("typedef "):
        return [f"{word} {{", *members, f"}}{attribute} {tag};"]
    return [f"{word} {tag} {{", *members, f"}}{attribute};"]


def constant(item) -> str:
    """A constant as an expression that the preprocessor accepts, if it is a number."""
    suffix = "" if -(2**31) <= item.value < 2**31 else "u" if 0 <= item.value < 2**32 else "ll"
    return f"(({item.c_type}){item.value})" if item.c_type else f"{item.value}{suffix}"
