# SPDX-License-Identifier: Apache-2.0
"""Parses classes, functions, signatures and docstrings in the text of `.pyx` files."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

INCLUDED = re.compile(r'^include "([^"]+)"', re.M)
HEAD = re.compile(r"^(?P<indent> *)(?P<kind>def|cdef class|class) (?P<name>\w+)", re.M)
DECORATOR = re.compile(r"^ *@(\S+)$")
DOCSTRING = re.compile(r'\s*"""((?:.|\n)*?)"""')
MARGIN = re.compile(r"^[^\s)]|\Z", re.M)
# `size_t size=0`, `LaunchConfig config not None`, `Py_buffer* view`
TYPED = re.compile(r"^(?P<ctype>[A-Za-z_]\w*\*?) +(?P<name>\w+)(?: not None)?(?P<default>=.*)?$")


@dataclass
class Parameter:
    name: str  # with its stars
    ctype: str = ""
    default: str = ""


@dataclass
class Routine:
    name: str
    parameters: list[Parameter]
    doc: str
    body: str
    decorators: list[str]


@dataclass
class Class:
    name: str
    bases: list[str]
    doc: str
    routines: list[Routine] = field(default_factory=list)


def read(path: Path) -> str:
    """The text of a `.pyx` or `.pxd` file, with included files inserted."""
    text = path.read_text("utf-8")
    return INCLUDED.sub(lambda found: read(path.parent / found[1]), text)


def parse(text: str) -> tuple[dict[str, Class], dict[str, Routine]]:
    """The classes and the functions of a module."""
    classes: dict[str, Class] = {}
    functions: dict[str, Routine] = {}
    code = blank_docstrings(text)
    end = 0  # of the last class
    for head in HEAD.finditer(code):
        if head["kind"] != "def":
            if not head["indent"]:
                current = classes[head["name"]] = parse_class(text, head)
                end = MARGIN.search(code, head.end()).start()
        elif not head["indent"]:
            functions[head["name"]] = parse_routine(text, head)
        elif len(head["indent"]) == 4 and head.start() < end:
            current.routines.append(parse_routine(text, head))
    return classes, functions


def blank_docstrings(text: str) -> str:
    """The text with docstrings replaced by spaces, so that offsets do not change."""
    return re.sub(r'"""(?:.|\n)*?"""', lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def parse_class(text: str, head: re.Match) -> Class:
    end = text.index(":\n", head.end())
    bases = text[head.end() : end].strip("() ")
    doc = DOCSTRING.match(text, end + 2)
    return Class(
        head["name"],
        [base.strip() for base in bases.split(",") if base.strip()],
        clean(doc[1]) if doc else "",
    )


def parse_routine(text: str, head: re.Match) -> Routine:
    start = text.index("(", head.end())
    end = closing(text, start)
    body = text.index(":", end) + 1
    doc = DOCSTRING.match(text, body)
    return Routine(
        head["name"],
        parse_parameters(text[start + 1 : end]),
        clean(doc[1]) if doc else "",
        indented(text, doc.end() if doc else body, head["indent"]),
        decorators(text, head.start()),
    )


def closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise SystemExit(f"generator: no end of {text[start : start + 40]!r}")


def parse_parameters(text: str) -> list[Parameter]:
    parameters = []
    for part in split(text):
        typed = TYPED.match(part)
        name, _, default = (typed["name"] + (typed["default"] or "") if typed else part).partition(
            "="
        )
        parameters.append(Parameter(name.strip(), typed["ctype"] if typed else "", default.strip()))
    return parameters


def split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth, last = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append(text[last:place])
            last = place + 1
    parts.append(text[last:])
    return [" ".join(part.split()) for part in parts if part.strip()]


def decorators(text: str, start: int) -> list[str]:
    names: list[str] = []
    for line in reversed(text[:start].splitlines()):
        decorator = DECORATOR.match(line)
        if not decorator:
            break
        if not decorator[1].startswith("cython."):  # for the compiler only
            names.insert(0, decorator[1])
    return names


def indented(text: str, start: int, indent: str) -> str:
    """The lines of a body: all lines with more indentation than its head."""
    end = re.compile(rf"^ {{0,{len(indent)}}}\S", re.M).search(text, text.find("\n", start) + 1)
    return text[start : end.start() if end else len(text)]


def clean(doc: str) -> str:
    """A docstring, cleaned like `inspect.cleandoc` does."""
    text = ast.literal_eval(f'"""{doc}"""').expandtabs().strip()
    signature, mark, text = text.rpartition("\n--\n")
    lines = text.strip().split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    tail = [line[min(margins) :].rstrip() for line in lines[1:]] if margins else []
    return signature + mark + "\n".join([lines[0], *tail])
