# SPDX-License-Identifier: Apache-2.0
"""Common parts of the stubs of both conventions: enumerations, constants, documentation."""

from __future__ import annotations

import re
from textwrap import indent

from ...descriptions import section_of
from ...facts import FactConstant
from ...model import Enum, Function, Library

INDENT = "    "
HEAD = """\
# {origin}
\"\"\"{purpose}\"\"\"

{imports}
"""
IMPORTS = {  # module -> names that the text may use
    "collections.abc": ["Callable", "Iterator", "Sequence"],
    "enum": ["IntEnum"],
    "typing": [
        *("Any", "Generic", "Literal", "Protocol", "Self", "SupportsIndex", "TypeAlias", "TypeVar"),
        *("overload", "type_check_only"),
    ],
    "typing_extensions": ["Buffer"],
}
# Type checkers see the buffer of NumPy arrays only from Python 3.12 on.
ADDRESS = """\
@type_check_only
class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Address: TypeAlias = SupportsIndex | Buffer | _HasArrayInterface | None"""
KERNEL_PARAMS = (
    "_KernelParams: TypeAlias = "
    "tuple[tuple[Any, ...], tuple[Any, ...]] | SupportsIndex | Buffer | None"
)


class Writer:
    """Writes the text of a module. A convention implements `parts`, the blocks after the head."""

    purpose = ""

    def __init__(self, library: Library):
        self.library = library

    def module(self) -> str:
        body = "\n\n".join(part.rstrip("\n") for part in self.parts() if part)
        if "_Address" in body:
            body = f"{ADDRESS}\n{body}"
        head = HEAD.format(
            origin=self.library.origin,
            purpose=self.purpose.format(name=self.library.module),
            imports=self.imports(body),
        )
        return f"{head}\n{body}\n"

    def imports(self, body: str) -> str:
        """Import lines for the names in the body."""
        used = {*re.findall(r"\w+", body)}
        lines = ["import builtins"] if "builtins" in used else []
        for module, names in IMPORTS.items():
            if found := [name for name in names if name in used]:
                lines.append(f"from {module} import {', '.join(found)}")
        for name, library in self.library.uses.items():
            lines.append(f"from {library.package} import {name}")
        return "\n".join(lines)

    def parts(self) -> list[str]:
        raise NotImplementedError

    def constants(self, constants: list[FactConstant]) -> str:
        return "\n".join(f"{c.name}: int" for c in constants)

    def enum(self, enum: Enum) -> str:
        """The class of an enumeration, as an IntEnum, which FastEnum behaves like."""
        first: dict[int, str] = {}
        lines = []
        for member in enum.members:
            alias = first.setdefault(member.value, member.name)
            lines.append(f"{member.name} = {member.value if alias == member.name else alias}")
            if member.doc:
                lines.append(docstring(member.doc))
        return self.class_text(f"{enum.name}(IntEnum)", lines)

    def class_text(self, head: str, lines: list[str]) -> str:
        body = indent("\n".join(lines), INDENT)
        return f"class {head}:\n{body}\n" if lines else f"class {head}: ...\n"

    def routine(self, function: Function, head: str) -> str:
        """A signature with what the function does, and its parameters; types say the outputs."""
        text = (function.sentence or function.doc) + section_of(function)
        return f"{head}:\n{indent(docstring(text), INDENT)}" if text else f"{head}: ..."

    def overloaded(self, function: Function, name: str, heads: list[str]) -> str:
        """All signatures of a function, the general one last."""
        if len(heads) == 1:
            return self.routine(function, f"def {name}{heads[0]}")
        first, *others = (f"@overload\ndef {name}{head}" for head in heads)
        return "\n".join([self.routine(function, first), *(f"{each}: ..." for each in others)])


def docstring(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', '\\"""')
    return f'"""{text}"""'
