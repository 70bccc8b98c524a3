# SPDX-License-Identifier: Apache-2.0
"""Tables of an override file with a type of their own, and how tables are read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Loading:
    """How the first call opens the library."""

    method: str = "pathfinder"  # or "backend": the driver; "extension": a module with the functions
    name: str = ""  # name for the pathfinder; the module
    package: str = ""  # package to install if it is missing
    remedy: str = ""  # instructions if it is missing; default: install the package
    emulated: str = ""  # file next to the loader that replaces it on the emulator

    @property
    def instructions(self) -> str:
        return self.remedy or f"Install {self.package}, or set CUDA_PATH to a CUDA toolkit."


@dataclass(slots=True)
class EnumNames:
    """Python names of the members of one enumeration."""

    prefix: str | None = None  # of the C names; None: their common prefix
    short_prefix: str = ""  # a shorter prefix: names without it are aliases
    renames: dict[str, str] = field(default_factory=dict)  # C name -> member
    aliases: dict[str, str] = field(default_factory=dict)  # further name -> member


@dataclass(slots=True)
class NumpyStructChoices:
    """Names and presentation of the structs of a library whose functions raise."""

    hidden: str = ""  # pattern of C names without a class
    # pattern of members that only the NumPy type has
    padding: str = r"(?!)"
    arrays: list[str] = field(default_factory=list)  # classes constructed with a length
    typedefs: dict[str, str] = field(default_factory=dict)  # tag -> typedef that names the class
    anonymous: dict[str, str] = field(default_factory=dict)  # "Struct.member" -> class
    dtypes: dict[str, str] = field(default_factory=dict)  # class -> name of its NumPy type
    fields: dict[str, str] = field(default_factory=dict)  # "Struct.member" -> Python name
    forms: dict[str, str] = field(default_factory=dict)  # "Struct.member" -> form of the field
    counters: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # struct -> array -> hidden member that counts its elements
    shown: dict[str, list[str]] = field(
        default_factory=dict
    )  # struct -> counters that are not hidden


def texts(table: dict) -> dict:
    """A table without its reason."""
    return {k: v for k, v in table.items() if k != "reason"}


def names(table: dict) -> list[str]:
    return table.get("names", [])


def pattern(table: dict) -> str:
    """A pattern without the white space of its lines."""
    return "".join(table.get("pattern", "").split())


def by_type(annotation: str):
    """The function that reads a table into a field of a type."""
    if annotation.startswith("set["):
        return lambda table: set(names(table))
    return names if annotation.startswith("list[") else texts


def numpy_struct_choices(table: dict) -> NumpyStructChoices:
    """The choices; each table in it has its own reason."""
    without = {k: texts(v) if isinstance(v, dict) else v for k, v in table.items()}
    without["hidden"] = "".join(table.get("hidden", "").split())
    return NumpyStructChoices(**without)


# Tables that are neither lists of names nor texts by name.
READERS = {
    **dict.fromkeys(
        ("skip", "brief", "calls_back", "gated", "hot", "lookups", "releases", "submits"), pattern
    ),
    "handles_by_address": lambda table: table["pattern"],
    "implemented_here": lambda table: table["headers"],
    "enum_names": lambda table: {name: EnumNames(**one) for name, one in texts(table).items()},
    "numpy_structs": lambda table: numpy_struct_choices(texts(table)),
}
