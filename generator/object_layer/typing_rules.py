# SPDX-License-Identifier: Apache-2.0
"""The type of a parameter, a result or a property: by its C type, its docstring, or types.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from .cython_source import Class, Parameter, Routine

C_TYPES = {
    "size_t": "SupportsIndex",
    "int": "SupportsIndex",
    "bint": "bool",
    "str": "str",
    "bytes": "bytes",
    "tuple": "tuple[Any, ...]",
}
ENTRY = re.compile(r"^(\*?\w+(?:, \w+)*) : (.*?)(, optional)?$", re.M)
BOOLEAN = re.compile(r"^(Whether|True|False)\b")


class TypingRules:
    """The table of types.toml, and the names that are missing in it."""

    def __init__(self, path: Path):
        self.table = tomllib.loads(path.read_text("utf-8"))
        self.missing: list[str] = []

    def lookup(self, section: str, cls: Class | None, *names: str) -> str | None:
        """The most specific entry: "Class.method.parameter" before "parameter"."""
        rows = self.table[section]
        owner = cls.name if cls else ""
        keys = [".".join((owner, *names)), f"{owner}.{names[-1]}", names[-1]]
        return next((rows[key] for key in keys if key in rows), None)

    def parameter(self, cls: Class | None, routine: Routine, parameter: Parameter) -> str:
        name = parameter.name.lstrip("*")
        if parameter.ctype and parameter.ctype != "object":
            return C_TYPES.get(parameter.ctype, parameter.ctype)
        documented = self.documented(routine.doc, parameter.name) or (
            self.documented(cls.doc, parameter.name) if cls else None
        )
        exact = self.table["parameters"].get(f"{cls.name if cls else ''}.{routine.name}.{name}")
        known = exact or documented or self.lookup("parameters", cls, routine.name, name)
        return known or self.unknown(cls, routine.name, name)

    def documented(self, doc: str, name: str) -> str | None:
        for names, text, optional in ENTRY.findall(section(doc, "Parameters")):
            if name in names.split(", "):
                annotation = self.phrase(text)
                return (
                    f"{annotation} | None"
                    if annotation and optional and annotation != "Any"
                    else annotation
                )
        return None

    def phrase(self, text: str) -> str | None:
        phrases = self.table["phrases"]
        return phrases.get(text, text if re.fullmatch(r"[A-Z]\w+", text) else None)

    def result(self, cls: Class | None, routine: Routine) -> str:
        if known := self.lookup("members", cls, routine.name):
            return known
        phrase = section(routine.doc, "Returns").strip().split("\n")[0]
        if phrase:
            known = self.table["results"].get(phrase) or self.phrase(phrase)
            return known or self.unknown(cls, routine.name, phrase)
        if re.search(r"\breturn +\S", routine.body):
            return self.unknown(cls, routine.name, "result")
        return "None"

    def member(self, cls: Class, routine: Routine) -> str:
        if BOOLEAN.match(routine.doc):
            return "bool"
        return self.lookup("members", cls, routine.name) or self.inherited(cls, routine)

    def inherited(self, cls: Class, routine: Routine) -> str:
        spelled = re.match(r"(?:An older|Deprecated) spelling of `(\w+)`", routine.doc)
        original = spelled and next((r for r in cls.routines if r.name == spelled[1]), None)
        return self.member(cls, original) if original else self.unknown(cls, routine.name)

    def unknown(self, cls: Class | None, *names: str) -> str:
        self.missing.append(".".join(([cls.name] if cls else []) + list(names)))
        return "Any"


def section(doc: str, title: str) -> str:
    """The text below a numpydoc heading."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, re.M | re.S)
    return match[1] if match else ""
