# SPDX-License-Identifier: Apache-2.0
"""Writes the `.pyi` files of `cuda.core`: type stubs of compiled classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from ..model import origin_of
from . import cython_source, run_time_members
from .cimport_aliases import literal
from .cython_source import Class, Parameter, Routine
from .typing_rules import ENTRY, TypingRules, section

FOLDER = "cuda/core"
EXTENSIONS = (
    "_core",
    "_compile",
    "_graph",
    "_texture",
    "_resources",
    "_views",
    "_located_memory",
    "_sharing",
)
SUBMODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
INDENT = "    "
ORIGIN = f"# {origin_of('the sources of cuda.core')}\n"
HEAD = '''\
"""{purpose}"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, MutableSet, Sequence
from os import PathLike
from typing import Any, Literal, Never, Protocol, Self, SupportsIndex, SupportsInt, TypeAlias
from typing import TypeVar, final, overload, type_check_only
from uuid import UUID

from typing_extensions import Buffer as ReadableBuffer
from typing_extensions import CapsuleType, deprecated

from cuda.bindings import driver, nvrtc
from cuda.core import system
{imports}

_Array = TypeVar("_Array")


@type_check_only
class _Writer(Protocol):
    def write(self, text: str, /) -> object: ...


'''
TYPES = {
    "cuda.core.typing": "ArrayFormatType CompilerBackendType IsStreamType "
    "ManagedMemoryLocationType ObjectCodeFormatType PCHStatusType SourceCodeType "
    "WorkqueueSharingScopeType",
    "cuda.core.memory.buffers.copy_options": "CopyOptions",
    "cuda.core.memory.driver_sets": "AccessedBySetProxy PeerAccessibleBySetProxy",
    "cuda.core.module.mdspan": "Mdspan",
    "cuda.core.module.occupancy_curve": "OccupancyCurve",
}
FINAL = re.compile(r"^@cython\.final\n(?:@.*\n)*cdef class (\w+)", re.M)


def emit(root: Path) -> dict[str, str]:
    homes = literal(root / FOLDER / "__init__.py", "_HOMES")
    graphs = literal(root / FOLDER / "graph/__init__.py", "_HOMES")
    textures = literal(root / FOLDER / "texture/__init__.py", "_HOMES")
    homes["_graph"] += f" {graphs['cuda.core._graph']}"
    homes["_texture"] += f" {textures['cuda.core._texture']}"
    homes["_sharing"] = literal(root / FOLDER / "_forwarding.py", "PRIVATE")["_sharing"]
    rules = TypingRules(Path(__file__).with_name("types.toml"))
    records = rules.table["records"]
    known = TYPES | {module: " ".join(rows) for module, rows in records.items()}
    utilities = literal(root / FOLDER / "utils.py", "_HOMES")
    files = {f"{FOLDER}/__init__.pyi": package(root)}
    purpose = "Graphs: work that is described once and launched often."
    files[f"{FOLDER}/graph/__init__.pyi"] = theme_package(graphs, purpose)
    purpose = "Arrays, textures and surfaces."
    files[f"{FOLDER}/texture/__init__.pyi"] = theme_package(textures, purpose)
    files |= system_package(literal(root / FOLDER / "system/__init__.py", "_HOMES"))
    files[f"{FOLDER}/utils.pyi"] = utilities_module(utilities)
    for home, names in utilities.items():
        homes[home] = f"{homes.get(home, '')} {names}".strip()
    files |= {f"{m.replace('.', '/')}.pyi": named_tuples(rows) for m, rows in records.items()}
    for extension in EXTENSIONS:
        other_extensions = [name for name in EXTENSIONS if name != extension]
        imports = {f"cuda.core.{name}": homes[name] for name in other_extensions}
        for home, names in homes.items():
            if home not in EXTENSIONS and home not in ("graph", "texture", "typing"):
                imports[f"cuda.core.{home}"] = names
        for home, names in (graphs | textures).items():
            if home.endswith(".options"):
                imports[home] = names
        text = Module(root, extension, rules).text(homes[extension].split(), imports | known)
        files[f"{FOLDER}/{extension}.pyi"] = text
    if rules.missing:
        raise SystemExit(
            "generator: no type known, neither by the docstring nor in "
            f"{FOLDER}'s types.toml, for: {', '.join(sorted(rules.missing))}"
        )
    files[f"{FOLDER}/experimental.pyi"] = (
        f'{ORIGIN}"""`cuda.core` as it was called before 1.0."""\n\nfrom cuda.core import *\n'
    )
    return files


def named_tuples(rows: dict[str, list[str]]) -> str:
    """The stub of a module of records: one class each, whose first line is its base."""
    classes = [
        f"class {name}({base}):\n{indent(chr(10).join(lines), INDENT)}\n"
        for name, (base, *lines) in rows.items()
    ]
    return "\n".join([ORIGIN, "from typing import NamedTuple\n", *classes])


def theme_package(homes: dict[str, str], purpose: str) -> str:
    """The stub of `cuda.core.graph` or `cuda.core.texture`."""
    lines = [ORIGIN, f'"""{purpose}"""\n\n']
    lines += imports_of({home.removeprefix("cuda.core."): homes[home] for home in homes})
    lines.append(f"\n__all__ = {sorted(' '.join(homes.values()).split())!r}\n")
    return "".join(lines)


def system_package(homes: dict[str, str]) -> dict[str, str]:
    """The stubs of `cuda.core.system`, whose names are created on first use."""
    errors = ", ".join(f"{name} as {name}" for name in homes["exceptions"].split())
    exceptions = [ORIGIN, '"""The exceptions of NVML."""\n\n']
    exceptions.append(f"from cuda.bindings.nvml import {errors}\n")
    lines = [ORIGIN, '"""The machine: its drivers, and its devices as NVML knows them."""\n\n']
    lines += imports_of({f"system.{home}": names for home, names in homes.items()})
    lines += [f"from cuda.core.system import {name} as {name}\n" for name in ("typing",)]
    names = sorted([*" ".join(homes.values()).split(), "CUDA_BINDINGS_NVML_IS_COMPATIBLE"])
    lines.append(f"\nCUDA_BINDINGS_NVML_IS_COMPATIBLE: bool\n\n__all__ = {names!r}\n")
    return {
        f"{FOLDER}/system/__init__.pyi": "".join(lines),
        f"{FOLDER}/system/exceptions.pyi": "".join(exceptions),
    }


def package(root: Path) -> str:
    """The stub of `cuda.core` itself, which imports every public name."""
    homes = literal(root / FOLDER / "__init__.py", "_HOMES")
    lines = [ORIGIN, '"""CUDA objects for Python."""\n\n']
    lines += imports_of(homes)
    lines += [f"from cuda.core import {name} as {name}\n" for name in SUBMODULES]
    lines += [f"from cuda.core import {name} as {name}\n" for name in ("emulation", "interop")]
    lines.append("\n")
    lines.append("__version__: str\n__implementation__: str\n\n")
    lines.append("def get_include() -> str: ...\n\n")
    silent = next(
        ast.literal_eval(statement.value)
        for statement in ast.parse((root / FOLDER / "__init__.py").read_text("utf-8")).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "_SILENT"
    )
    names = {name for some in homes.values() for name in some.split()} - set(silent)
    lines.append(f"__all__ = {sorted({*names, *SUBMODULES})!r}\n")
    return "".join(lines)


def utilities_module(homes: dict[str, str]) -> str:
    """The stub of `cuda.core.utils`, which imports its names from other modules."""
    lines = [
        ORIGIN,
        '"""Views of arrays, program caches, and what works on several objects at once."""\n\n',
    ]
    lines += imports_of(homes)
    lines.append(f"\n__all__ = {sorted(' '.join(homes.values()).split())!r}\n")
    return "".join(lines)


def imports_of(homes: dict[str, str]) -> Iterator[str]:
    """Import lines for the names that a stub re-exports, one per home."""
    for home, names in sorted(homes.items()):
        imported = ", ".join(f"{name} as {name}" for name in sorted(names.split()))
        yield f"from cuda.core.{home} import {imported}\n"


class Module:
    """The stub of one extension."""

    def __init__(self, root: Path, extension: str, rules: TypingRules):
        self.root = root
        text = cython_source.read(root / FOLDER / f"{extension}.pyx")
        self.purpose = re.search(r'"""(.*?)"""', text)[1]
        self.classes, self.functions = cython_source.parse(text)
        declared = cython_source.read(root / FOLDER / f"{extension}.pxd")
        self.final = set(FINAL.findall(text + declared))
        self.rules = rules
        self.is_core = extension == "_core"
        self.source = text

    def text(self, names: list[str], imports: dict[str, str]) -> str:
        parts = [self.function(None, self.functions[n]) for n in names if n in self.functions]
        if self.is_core:
            parts = ["\n".join(self.rules.table["lines"]["module"]) + "\n", *parts]
        texts: dict[str, str] = {}
        while pending := self.mentioned(names, parts, texts):
            texts |= {name: self.class_text(self.classes[name]) for name in pending}
        body = "\n\n".join([*parts, *(texts[name] for name in self.classes if name in texts)])
        used = "\n".join(
            f"from {module} import {', '.join(sorted(names.split()))}"
            for module, names in sorted(imports.items())
        )
        head = HEAD.format(purpose=self.purpose, imports=used)
        return f"{ORIGIN}{head}{body}"

    def mentioned(self, names: list[str], parts: list[str], texts: dict[str, str]) -> list[str]:
        """The public classes, and the classes named in annotations so far."""
        code = cython_source.blank_docstrings("\n".join([*parts, *texts.values()]))
        words = {*names, *re.findall(r"\w+", code)}
        return [name for name in self.classes if name in words and name not in texts]

    def class_text(self, cls: Class) -> str:
        bases = [base for base in cls.bases if base != "_KernelAttributes"]
        head = "@final\n" if cls.name in self.final else ""
        head += f"class {cls.name}" + (f"({', '.join(bases)})" if bases else "") + ":\n"
        members = [docstring(cls.doc.partition("\n--\n")[2].strip() or cls.doc)]
        hidden = self.rules.table["hidden"]["names"]
        for routine in cls.routines:
            name = routine.name
            is_private = name.startswith("_") and not name.endswith("__")
            if name not in hidden and not is_private and name != "__init__":
                members.append(self.method(cls, routine))
        members += [*self.attributes(cls), *self.run_time_properties(cls)]
        return head + indent("\n".join(filter(None, [*self.constructor(cls), *members])), INDENT)

    def constructor(self, cls: Class) -> list[str]:
        """`__init__`, from the class docstring if the constructor is in C++."""
        init = next((r for r in cls.routines if r.name == "__init__"), None)
        if lines := self.rules.table["lines"].get(f"{cls.name}.__init__"):
            return lines
        if spelled := re.match(rf"{cls.name}\((.*?)\)\n--\n", cls.doc, re.S):
            parameters = cython_source.parse_parameters(spelled[1])
            if init:
                routine = init_routine(parameters, "self")
                return [f"def __init__({self.parameters(cls, routine)}) -> None: ..."]
            return [
                f"def __new__({self.parameters(cls, init_routine(parameters, 'cls'))}) -> Self: ..."
            ]
        if init is None:
            return self.allocator(cls)
        if [parameter.name for parameter in init.parameters] == ["self", "*args", "**kwargs"]:
            if "raise RuntimeError" in init.body.strip().split("\n")[0]:
                return ["def __init__(self, never: Never, /) -> None: ..."]
            return ["def __init__(self) -> None: ..."]
        return [self.function(cls, Routine("__init__", init.parameters, "", "", []))]

    def allocator(self, cls: Class) -> list[str]:
        """`__new__` of a class without `__init__`, unless it accepts any arguments."""
        new = next((r for r in cls.routines if r.name == "__new__"), None)
        if new is None or any(parameter.name.startswith("*a") for parameter in new.parameters):
            return []
        return [f"def __new__({self.parameters(cls, new)}) -> Self: ..."]

    def method(self, cls: Class, routine: Routine) -> str:
        if lines := self.rules.table["lines"].get(f"{cls.name}.{routine.name}"):
            return "\n".join(lines)
        special = self.rules.lookup("special", cls, routine.name)
        if special:
            head = special if special.startswith("__") else routine.name + special
            return f"def {head}: ..."
        decorators = [f"@{each}" for each in routine.decorators]
        if "property" in routine.decorators:
            head = f"def {routine.name}(self) -> {self.rules.member(cls, routine)}:"
            return "\n".join([*deprecation(routine), *decorators, with_doc(head, routine.doc)])
        if decorators and decorators[0].endswith(".setter"):
            getter = next(r for r in cls.routines if r.name == routine.name)
            accepted = self.rules.table["assigned"].get(f"{cls.name}.{routine.name}")
            accepted = accepted or self.rules.member(cls, getter)
            return f"{decorators[0]}\ndef {routine.name}(self, value: {accepted}) -> None: ..."
        return self.function(cls, routine)

    def function(self, cls: Class | None, routine: Routine) -> str:
        result = "None" if routine.name == "__init__" else self.rules.result(cls, routine)
        head = f"def {routine.name}({self.parameters(cls, routine)}) -> {result}:"
        decorators = [f"@{each}" for each in routine.decorators]
        return "\n".join([*deprecation(routine), *decorators, with_doc(head, routine.doc)])

    def parameters(self, cls: Class | None, routine: Routine) -> str:
        written = []
        for place, parameter in enumerate(routine.parameters):
            if parameter.name in ("*", "/") or (cls and place == 0 and is_self(parameter)):
                written.append(parameter.name)
            elif cls and cls.name == "LaunchConfig" and parameter.name == "**attributes":
                written.append(run_time_members.launch_keywords(self.source))
            elif parameter.name != "**removed":
                annotation = self.rules.parameter(cls, routine, parameter)
                if parameter.default == "None" and not re.search(r"\b(None|Any)\b", annotation):
                    annotation += " | None"
                default = " = ..." if parameter.default else ""
                written.append(f"{parameter.name}: {annotation}{default}")
        return ", ".join(written)

    def attributes(self, cls: Class) -> list[str]:
        """The attributes that the docstring lists, one or several per line."""
        entries = ENTRY.findall(section(cls.doc, "Attributes"))
        kinds = self.rules.table["results"]
        return [
            f"{name}: {kinds[kind]}" for names, kind, _ in entries for name in names.split(", ")
        ]

    def run_time_properties(self, cls: Class) -> list[str]:
        """Properties that a table creates when the module is imported."""
        if cls.name == "DeviceProperties":
            return run_time_members.device_properties(self.root)
        if cls.name == "LaunchConfig":
            return run_time_members.launch_attributes(self.source)
        if cls.name == "KernelAttributes":
            return run_time_members.kernel_attributes(self.source)
        return []


def init_routine(parameters: list[Parameter], first: str) -> Routine:
    return Routine("__init__", [Parameter(first), *parameters], "", "", [])


def is_self(parameter: Parameter) -> bool:
    return parameter.name in ("self", "cls")


def deprecation(routine: Routine) -> list[str]:
    """The decorator of a deprecated name."""
    if not re.match(r"(An older|Deprecated)\b", routine.doc):
        return []
    new = re.search(r"`(\w+)`", routine.doc)
    return [f'@deprecated("use {new[1]}")' if new else '@deprecated("")']


def docstring(doc: str) -> str:
    if not doc:
        return ""
    text = doc.replace("\\", "\\\\")
    return f'"""{text}"""' if "\n" not in text else f'"""{text}\n"""'


def with_doc(head: str, doc: str) -> str:
    return f"{head}\n{indent(docstring(doc), INDENT)}\n{INDENT}..." if doc else f"{head} ..."
