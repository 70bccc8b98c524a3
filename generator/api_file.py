# SPDX-License-Identifier: Apache-2.0
"""Reads and writes `.api` files: one fact per line, so that a header update is a readable diff."""

from __future__ import annotations

import re
from pathlib import Path

from .facts import (
    FactConstant,
    FactEnum,
    FactField,
    FactFunction,
    FactParam,
    FactRecord,
    Facts,
    FactTypedef,
)

INDENT = "    "
HEAD = """\
# The {library} API as its headers state it, one declaration a line.
# Written by `python -m generator extract {library}`; decisions: overrides/{library}.toml.
#
# Functions are sorted by name: the order of the function table. Types stand in header order.
# A parameter without a role is an input by value or address; the roles are listed in README.md.
"""

BY_HAND = """\
# The {library} API, written by hand, since no package has its headers: from the layouts, the
# values and the function types that are known of it. Decisions: overrides/{library}.toml.
"""


def write(facts: Facts) -> str:
    head = HEAD
    if facts.is_by_hand:
        head = BY_HAND + HEAD[HEAD.index("#\n") :]
    lines = [
        head.format(library=facts.library).rstrip("\n"),
        "",
        f"library {facts.library} {facts.version}".rstrip(),
        f"headers {' '.join(facts.headers)}",
        *(["written by hand"] if facts.is_by_hand else []),
        *(f"guard {header} = {macro}" for header, macro in facts.guards.items()),
    ]
    for title, items, writer in (
        ("constants", facts.constants, write_constant),
        ("types", facts.types, write_type),
    ):
        header = None
        for item in items if title == "types" else sorted(items, key=lambda c: (c.header, c.name)):
            if item.header != header:
                header = item.header
                lines += ["", f"[{title} of {header}]"]
            lines += writer(item)
    lines += ["", "[functions]", *map(write_function, facts.functions)]
    return "\n".join(lines) + "\n"


def write_constant(constant: FactConstant) -> list[str]:
    cast = f" : {constant.c_type}" if constant.c_type else ""
    return [f"const {constant.name} = {constant.value}{cast}"]


def write_type(item: FactRecord | FactEnum | FactTypedef) -> list[str]:
    if isinstance(item, FactTypedef):
        return [f"{item.word} {item.name} = {item.target}"]
    if isinstance(item, FactEnum):
        return [f"{item.word} {item.tag} {{", *(f"{INDENT}{n} = {v}" for n, v in item.members), "}"]
    scope = f" in {item.scope}" if item.scope else ""
    scope += f" aligned {item.alignment} size {item.size}" if item.alignment else ""
    return [f"{item.word} {item.tag}{scope} {{", *write_fields(item, INDENT), "}"]


def write_fields(record: FactRecord, indent: str) -> list[str]:
    lines = []
    for member in record.fields:
        if member.record:
            lines.append(f"{indent}{member.record.word} {{")
            lines += write_fields(member.record, indent + INDENT)
            lines.append(f"{indent}}} {member.name}{member.c_type}".rstrip())
        else:
            lines.append(indent + join_declaration(member.c_type, member.name))
    return lines


def write_function(function: FactFunction) -> str:
    params = ", ".join(
        join_declaration(p.c_type, p.name) + ("" if p.kind == "in" else f": {p.kind}")
        for p in function.params
    )
    name = (
        function.name
        if function.name == function.c_name
        else f"{function.name} = {function.c_name}"
    )
    words = [f"fn {name}({params}) -> {function.ret}", function.header]
    words += [f"since {function.since}"] if function.since else []
    return "  ".join([*words, *function.flags])


def join_declaration(c_type: str, name: str) -> str:
    """`unsigned int[4]` and `pad` -> `unsigned int pad[4]`."""
    element, bracket, extent = c_type.partition("[")
    space = "" if element.endswith("*") else " "
    return f"{element}{space}{name}{bracket}{extent}"


def split_declaration(text: str) -> tuple[str, str]:
    """The inverse of `join_declaration`: type and name."""
    match = re.fullmatch(r"(.*?)(\w+)((?:\[\d+\])*)", text)
    if not match:
        raise ValueError(f"not a declaration: {text!r}")
    c_type, name, extent = match.groups()
    return c_type.rstrip() + extent, name


def split_params(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def read(path: Path) -> Facts:
    reader = Reader(path)
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            reader.line(line)
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path.name}:{number}: {error}") from error
    return reader.facts


class Reader:
    """Reads line by line; `open` holds the types without a closing brace so far."""

    def __init__(self, path: Path):
        self.facts = Facts(path.stem, "", [])
        self.header = ""
        self.open: list[FactEnum | FactRecord] = []

    def line(self, raw: str) -> None:
        text = raw.strip()
        if not text or text.startswith("#"):
            return
        if self.open:
            self.member(text)
        elif text.startswith("["):
            self.header = text.strip("[]").rpartition(" of ")[2]
        else:
            word, _, tail = text.partition(" ")
            self.declaration(word, tail)

    def member(self, text: str) -> None:
        holder = self.open[-1]
        if text.startswith("}"):
            self.close(text[1:].strip())
        elif isinstance(holder, FactEnum):
            name, value = text.split(" = ")
            holder.members.append((name, int(value)))
        elif text.endswith("{"):
            self.open.append(FactRecord(text[:-2], ""))
        else:
            c_type, name = split_declaration(text)
            holder.fields.append(FactField(name, c_type))

    def close(self, name: str) -> None:
        record = self.open.pop()
        if self.open:
            name, bracket, extent = name.partition("[")
            self.open[-1].fields.append(FactField(name, bracket + extent, record))
        else:
            self.facts.types.append(record)

    def declaration(self, word: str, tail: str) -> None:
        if word == "library":
            self.facts.library, _, self.facts.version = tail.partition(" ")
        elif word == "headers":
            self.facts.headers = tail.split()
        elif word == "written":
            self.facts.is_by_hand = True
        elif word == "guard":
            header, macro = tail.split(" = ")
            self.facts.guards[header] = macro
        elif word == "const":
            name, value = tail.split(" = ")
            value, _, cast = value.partition(" : ")
            self.facts.constants.append(FactConstant(name, int(value), self.header, cast))
        elif word == "fn":
            self.facts.functions.append(read_function(tail))
        elif tail.endswith("{"):
            tag = tail[:-2]
            if word == "typedef":
                inner, _, tag = tag.partition(" ")
                word = f"typedef {inner}"
            self.open.append(open_type(word, tag, self.header))
        else:
            name, target = tail.split(" = ")
            self.facts.types.append(FactTypedef(word, name, target, self.header))


def open_type(word: str, text: str, header: str) -> FactEnum | FactRecord:
    """`CUtensorMap_st aligned 64 size 128` -> a record without members."""
    match = re.fullmatch(r"(\w+)(?: in (\w+))?(?: aligned (\d+) size (\d+))?", text)
    if not match:
        raise ValueError(f"not a type: {text!r}")
    if word.endswith("enum"):
        return FactEnum(match[1], [], header, word)
    return FactRecord(
        word, match[1], [], header, match[2] or "", int(match[3] or 0), int(match[4] or 0)
    )


def read_function(text: str) -> FactFunction:
    match = re.fullmatch(r"(\w+)(?: = (\w+))?\((.*)\) -> (.*)", text)
    if not match:
        raise ValueError(f"not a function: {text!r}")
    name, c_name, inner, tail = match.groups()
    ret, header, *words = tail.split("  ")
    since = next((w.removeprefix("since ") for w in words if w.startswith("since ")), "")
    flags = tuple(w for w in words if not w.startswith("since "))
    params = []
    for part in split_params(inner):
        declaration, _, role = part.partition(": ")
        c_type, param = split_declaration(declaration)
        params.append(FactParam(c_type, param, role or "in"))
    return FactFunction(name, c_name or name, ret, params, header, since, flags)
