# SPDX-License-Identifier: Apache-2.0
"""The API of a C library as emitters see it: facts of `api/` and decisions of `overrides/`."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import releases
from .decisions import Decisions
from .facts import FactConstant, Facts
from .kinds import Kind


@dataclass(slots=True)
class Assembly:
    """A struct that a call is made of. Fields are named by their place in the NumPy struct."""

    numpy_struct: str
    version: int  # that the call states in the first field; 0: none
    inputs: list[tuple[int, str]]  # field and argument
    output: int  # field that is returned; -1: the struct
    counted: int  # list field whose length a first call tells; -1: none
    older: str = ""  # NumPy struct that an older driver fills in its place


@dataclass(slots=True)
class Param:
    """One C parameter."""

    name: str  # the Python name, after renames
    c_name: str
    c_type: str
    kind: Kind
    assembly: Assembly | None = None

    @property
    def aux(self) -> str:
        return self.kind.aux

    @property
    def words(self) -> str:
        """The kind as README.md spells it."""
        return str(self.kind)


@dataclass(slots=True)
class Function:
    """One C function, and the Python function made of it."""

    name: str  # public name: the C name without the version suffix that a macro of the header adds
    c_name: str  # exported symbol
    ret: str
    params: list[Param]  # in C order
    header: str
    since: str = ""  # CUDA release that brought this variant of the function, as in "12.4"
    version: int = 0  # the same as cuGetProcAddress takes it: 12040
    flags: tuple[str, ...] = ()  # facts: "ptds" or "ptsz", the header's per-thread stream variant;
    # "also 2.0": a release whose variant takes the same C types
    older: int = 0  # version of the variant that stands in where this one is missing
    py: list[str] = field(
        default_factory=list
    )  # Python parameters in order, "count=0" with default
    returns: list[str] = field(default_factory=list)  # names of what follows the error in the tuple
    signature: str = ""  # name string of the capsule in cy<library>.__pyx_capi__
    releases_gil: bool = True
    is_brief: bool = False  # releases it only where another thread could take it
    is_gated: bool = False  # must not run when the process ends
    is_hot: bool = False  # has an specialised form beside the table-driven one, maybe a shared one
    in_python: bool = True  # False: for cimport only
    wraps_callback: bool = False  # the callback and its data go through a trampoline
    body: str | None = None  # name of a hand-written C++ body
    doc: str = ""
    overloads: list[str] = field(default_factory=list)  # further call forms, as a stub spells them
    is_corrected: bool = False  # an override replaces what the heuristics said
    python_name: str = ""
    result: str = ""  # Python type of what a body makes of the outputs
    returns_code: bool = True  # False: the code is what the function was asked for
    size_function: str = ""  # the function that tells how many bytes this one writes

    @property
    def older_versions(self) -> list[int]:
        """Versions of older variants that take the same C types, in ascending order."""
        also = (f.removeprefix("also ") for f in self.flags if f.startswith("also "))
        return [releases.number(release) for release in also]

    @property
    def symbol(self) -> str:
        """The name that cuGetProcAddress takes together with `version`: no version suffix."""
        return strip_version(self.c_name)


@dataclass(slots=True)
class Member:
    name: str
    value: int
    doc: str = ""
    c_name: str = ""

    def __post_init__(self):
        self.c_name = self.c_name or self.name


@dataclass(slots=True)
class Enum:
    """One C enum. `name` is the typedef name, which is the Python class; `c_name` the tag."""

    name: str
    c_name: str
    members: list[Member]
    header: str = ""
    is_macros: bool = False  # the members are macros in C
    is_unsigned: bool = False  # of 64 bits, above zero


@dataclass(slots=True)
class Handle:
    """An opaque value with a class of its own: pointer, function pointer or identity integer."""

    name: str
    base: str | None  # Python base class, of another library: "driver.CUstream"
    c_type: str  # what is stored: "CUctx_st *", "void (*)(void *)", "unsigned long long"
    shape: str  # "pointer", "function", "integer"
    header: str = ""
    is_stream: bool = False  # has `__cuda_stream__`

    @property
    def is_comparable(self) -> bool:
        """Whether equality and hash go by value."""
        return self.shape != "function"


@dataclass(slots=True)
class Field:
    name: str  # Python name
    kind: Kind
    readonly: bool = False
    c_path: str = ""  # member designator from the owning struct, as offsetof takes it
    c_type: str = ""  # C type with array extents, as in "unsigned int[16]"


@dataclass(slots=True)
class Struct:
    """A struct or union class. Typedefs of a struct are classes with a `base` and no fields."""

    name: str
    base: str | None
    c_type: str  # C++ spelling; for anonymous members the path from the class that holds them
    fields: list[Field] = field(default_factory=list)
    view_only: bool = False  # anonymous: exists inside another struct only
    is_union: bool = False
    header: str = ""
    alignment: int = 0  # when wider than that of a pointer
    size: int = 0  # of a struct whose alignment is stated
    joint_lists: list[str] = field(default_factory=list)  # fields that share the next one
    joint_count: str = ""

    @property
    def joint_method(self) -> str:
        """The method that sets those lists and their count."""
        return "set_" + "_".join(self.joint_lists)

    @property
    def c_name(self) -> str:
        """The name in the .pxd: a tag, a typedef, or the number of an anonymous type."""
        tag = self.c_type.rpartition("::")[2]
        return tag if tag.isidentifier() else self.name


@dataclass(slots=True)
class NumpyField:
    """One field of a NumPy struct. `form` is a word of `cpp/bindings/records/records.hpp`."""

    name: str
    c_path: str  # member designator, as offsetof takes it
    form: str
    target: str = ""  # class of structs, C type of numbers
    is_array: bool = False
    is_hidden: bool = False  # known to NumPy alone
    counter: str = ""  # name of the field that counts the elements
    enum: str = ""  # C name of the enumeration that the number belongs to


@dataclass(slots=True)
class NumpyStruct:
    """A struct class of the libraries whose functions raise: it has a NumPy type."""

    name: str
    c_type: str  # C++ spelling
    fields: list[NumpyField]
    is_array: bool  # made with a length
    dtype: str  # name of the NumPy type in the module; empty for what calls alone use
    header: str = ""


@dataclass(slots=True)
class Typedef:
    """A typedef that makes no class: a plain number, or one more name for an enum."""

    name: str
    c_type: str
    header: str = ""


@dataclass(slots=True)
class Library:
    """What a library is in Python: classes and functions, and what they were made of."""

    facts: Facts
    decisions: Decisions
    functions: list[Function]  # sorted by public name: the order of the function table
    enums: list[Enum]
    handles: list[Handle]
    structs: list[Struct]  # bases first
    typedefs: list[Typedef]
    constants: list[FactConstant]
    offered: list[FactConstant]  # constants of the Python module
    attributes: dict[str, dict[str, Kind]]  # enum -> member -> kind of the typed value
    numpy_structs: list[NumpyStruct]  # each after those that it contains
    exceptions: dict[str, str]  # class -> C name of its code
    uses: dict[str, Library]  # whose classes are bases and values here

    @property
    def name(self) -> str:
        """Unlike that of all others; a name in C++."""
        return self.decisions.library

    @property
    def module(self) -> str:
        """The name in its package."""
        return self.decisions.module or self.name

    @property
    def table(self) -> str:
        """The library whose table holds the functions."""
        return self.decisions.face_of or self.name

    @property
    def is_face(self) -> bool:
        """Whether it shows the functions of another library once more."""
        return bool(self.decisions.face_of)

    @property
    def package(self) -> str:
        """That the generated modules lie in."""
        return self.decisions.package

    @property
    def folder(self) -> str:
        """Where the generated modules lie, below the root."""
        return self.package.replace(".", "/")

    @property
    def raises(self) -> bool:
        return self.decisions.convention != "status_codes"

    @property
    def not_found_c(self) -> str:
        """`not_found` as a C expression."""
        decided = self.decisions
        if decided.not_found_value is None:
            return decided.not_found
        return f"(({decided.result_enum}){decided.not_found_value})"

    @property
    def nothing_found_c(self) -> str:
        """`not_found` as what functions return."""
        result = self.decisions.result_type
        is_struct = result not in ("", self.decisions.result_enum)
        return f"{result}{{{self.not_found_c}}}" if is_struct else self.not_found_c

    @property
    def result_tag(self) -> str:
        """The name that the header declares the result enumeration under."""
        name = self.decisions.result_enum
        targets = (d.target for d in self.facts.types if getattr(d, "name", "") == name)
        return next(targets, name)

    @property
    def result_class(self) -> str:
        """The Python class of the result enumeration."""
        name = self.decisions.result_enum
        return next(e.name for e in self.enums if name in (e.name, e.c_name))

    def include(self, header: str) -> str:
        """The line that includes one of `headers`: CUDA's, or the one that is written here."""
        return (
            f'#include "headers/{header}"'
            if self.decisions.declares_itself
            else f"#include <{header}>"
        )

    @property
    def origin(self) -> str:
        """What the first line of each generated file says."""
        return origin_of(f"generator/api/{self.table}.api")


def origin_of(source: str) -> str:
    """The first line of a file that is written from `source`, without its comment sign."""
    return f"Generated by `python -m generator emit` from {source}; do not edit."


def strip_version(name: str) -> str:
    """`cuMemAlloc_v2` -> `cuMemAlloc`."""
    head, _, tail = name.rpartition("_v")
    return head if head and tail.isdigit() else name
