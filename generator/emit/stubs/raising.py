# SPDX-License-Identifier: Apache-2.0
"""Stubs of the convention "exceptions": outputs alone, since a failure raises."""

from __future__ import annotations

from ...classify import split_type
from ...model import Function, Library, Param
from .writing import FLOATS, INTEGER, Writer

EXCEPTION = """\
class {name}(Exception):
    status: int
    def __init__(self, status: SupportsIndex) -> None: ...
"""
# A text is a sequence of texts as well: lists and tuples alone keep it out.
OPTIONS = """\
_Options: TypeAlias = (
    list[str] | list[bytes] | list[str | bytes] | tuple[str | bytes, ...] | SupportsIndex
)
"""
INPUTS = {
    "str": "str",
    "intptr": INTEGER,
    "intptr*": INTEGER,
    "int": INTEGER,
    "options": "_Options",
    "buffer": "_Address",
    "buffer*": "_Address",
}


class RaisingWriter(Writer):
    purpose = "The {name} API. Functions return their outputs, and raise where they fail."

    def __init__(self, library: Library):
        super().__init__(library)
        self.classes = {c.name for c in (*library.enums, *library.structs)}

    def parts(self) -> list[str]:
        library = self.library
        functions = [self.function(f) for f in library.functions if f.in_python]
        return [
            OPTIONS if any("_Options" in text for text in functions) else "",
            *map(self.enum, library.enums),
            self.exceptions(),
            self.constants(library.constants),
            "\n".join(functions),
        ]

    def exceptions(self) -> str:
        """The class that is raised, and those of single failures."""
        name = self.library.exception
        derived = [f"class {each}({name}): ..." for each in self.library.exceptions]
    
        return "\n\n".join([EXCEPTION.format(name=name), *derived])

    def function(self, function: Function) -> str:
        by_name = {p.name: p for p in function.params}
        params = ", ".join(f"{name}: {self.input_type(by_name[name])}" for name in function.py)
        head = f"({params}) -> {self.result(function)}"
        return self.overloaded(function, function.python_name, [*function.overloads, head])

    def input_type(self, param: Param) -> str:
        word, _, name = param.kind.partition(":")[2].partition(":")
        if not word:
            return "float" if split_type(param.c_type)[0] in FLOATS else INTEGER
        return INPUTS.get(word) or (f"{name} | {INTEGER}" if name in self.classes else "Any")

    def result(self, function: Function) -> str:
        by_name = {p.name: p for p in function.params}
        outputs = [
            self.output_type(by_name[name].kind, by_name[name].c_type)
            if name in by_name and by_name[name].kind.startswith("out")
            else self.returned(function)
            for name in function.returns
        ]
        if len(outputs) > 1:
            return f"tuple[{', '.join(outputs)}]"
        return outputs[0] if outputs else "None"

    def returned(self, function: Function) -> str:
        """Of a function whose C counterpart returns something else than a result code."""
        return "str" if "char" in function.ret else "int"

    def output_type(self, kind: str, c_type: str) -> str:
        word = kind.partition(":")[2]
        if word in self.classes:
            return word
        if word.startswith("str"):
            return "str"
        return "float" if split_type(c_type)[0] in FLOATS else "int"
