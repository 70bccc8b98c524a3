# SPDX-License-Identifier: Apache-2.0
"""The model of a C library for emitters: facts of `api/` and decisions of `overrides/`."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import releases
from .decisions import Decisions
from .facts import FactConstant, Facts
from .kinds import Kind


@dataclass(slots=True)
class Assembly:
    """A struct built from arguments of a call. Fields are indices in the NumPy struct."""

    numpy_struct: str
    version: int  # stored in the first field; 0: none
    inputs: list[tuple[int, str]]  # field and argument
    output: int  # field that is returned; -1: the struct
    counted: int  # list field whose length a first call returns; -1: none
    older: str = ""  # NumPy struct for older drivers


@dataclass(slots=True)
class Param:
    """A C parameter."""

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
        """The words of the kind in README.md."""
        return str(self.kind)


@dataclass(slots=True)
class Function:
    """A C function and its Python function."""

    name: str  # public name: the C name without the version suffix that a macro of the header adds
    c_name: str  # exported symbol
    ret: str
    params: list[Param]  # in C order
    header: str
    since: str = ""  # first CUDA release with this variant of the function, as in "12.4"
    version: int = 0  # the release as a number for cuGetProcAddress: 12040
    flags: tuple[str, ...] = ()  # facts: "ptds" or "ptsz", the header's per-thread stream variant;
    # "also 2.0": a release whose variant takes the same C types
    older: int = 0  # version of the variant used if this one is missing
    py: list[str] = field(default_factory=list)  # Python parameters, "count=0" with default
    returns: list[str] = field(default_factory=list)  # names of the outputs
    signature: str = ""  # name string of the capsule in cy<library>.__pyx_capi__
    releases_gil: bool = True
    is_brief: bool = False  # releases it only if another thread could acquire it
    is_submission: bool = False  # keeps it if no other thread can need it
    calls_back: bool = False  # the driver gets a function that may need the GIL
    is_gated: bool = False  # must not run while the process exits
    needs: str = "context"  # what it needs on the emulator
    is_release: bool = False  # releases a resource, also in a broken context
    is_hot: bool = False  # has a specialized form besides the table-driven one
    in_python: bool = True  # False: for cimport only
    wraps_callback: bool = False  # a trampoline calls the callback
    body: str | None = None  # name of handwritten C++ steps
    sentence: str = ""  # what it does
    returned: str = ""  # its outputs, in words
    own_doc: str = ""  # replaces both
    overloads: list[str] = field(default_factory=list)  # further signatures for the stub
    is_corrected: bool = False  # an override replaces a role of the heuristics
    python_name: str = ""
    aliases: list[str] = field(default_factory=list)  # further names in Python
    result: str = ""  # Python type of the result of a body
    returns_code: bool = True  # False: the code is the result
    size_function: str = ""  # function that returns the number of bytes this one writes

    @property
    def doc(self) -> str:
        """The documentation: its purpose and outputs."""
        return self.own_doc or f"{self.sentence} Returns {self.returned}.".lstrip()

    @property
    def older_versions(self) -> list[int]:
        """Versions of older variants with the same C types, in ascending order."""
        also = (f.removeprefix("also ") for f in self.flags if f.startswith("also "))
        return [releases.number(release) for release in also]

    @property
    def symbol(self) -> str:
        """The name for cuGetProcAddress, without version suffix."""
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
    """A C enum. `name` is the typedef name, which is the Python class; `c_name` is the tag."""

    name: str
    c_name: str
    members: list[Member]
    header: str = ""
    is_macros: bool = False  # the members are macros in C
    is_unsigned: bool = False  # 64-bit unsigned values


@dataclass(slots=True)
class Handle:
    """An opaque value with its own class: pointer, function pointer or identity integer."""

    name: str
    base: str | None  # Python base class in another library: "driver.CUstream"
    c_type: str  # stored type: "CUctx_st *", "void (*)(void *)", "unsigned long long"
    shape: str  # "pointer", "function", "integer"
    header: str = ""
    is_stream: bool = False  # has `__cuda_stream__`

    @property
    def is_comparable(self) -> bool:
        """Whether equality and hash compare values."""
        return self.shape != "function"


@dataclass(slots=True)
class Field:
    name: str  # Python name
    kind: Kind
    readonly: bool = False
    c_path: str = ""  # member designator for offsetof
    c_type: str = ""  # C type with array extents, as in "unsigned int[16]"
    joint: bool = False  # a list that shares its count with others: they are set together

    @property
    def is_settable(self) -> bool:
        """Whether an assignment or a keyword sets this field alone."""
        return not (self.readonly or self.joint)


@dataclass(slots=True)
class Struct:
    """A struct or union class. Typedefs of a struct are classes with a `base` and no fields."""

    name: str
    base: str | None
    c_type: str  # C++ spelling; for anonymous members the path from the enclosing class
    fields: list[Field] = field(default_factory=list)
    view_only: bool = False  # anonymous: exists only inside another struct
    is_union: bool = False
    header: str = ""
    alignment: int = 0  # if wider than that of a pointer
    size: int = 0  # of a struct with an alignment
    joint_lists: list[str] = field(default_factory=list)  # fields that share the next one
    joint_count: str = ""

    @property
    def joint_method(self) -> str:
        """The method that sets the joint lists and their count."""
        return "set_" + "_".join(self.joint_lists)

    @property
    def c_name(self) -> str:
        """The name in the .pxd: a tag, a typedef, or the number of an anonymous type."""
        tag = self.c_type.rpartition("::")[2]
        return tag if tag.isidentifier() else self.name


@dataclass(slots=True)
class NumpyField:
    """A field of a NumPy struct. `form` is an enumerator in `cpp/bindings/records/records.hpp`."""

    name: str
    c_path: str  # member designator for offsetof
    form: str
    target: str = ""  # class of structs, C type of numbers
    is_array: bool = False
    is_hidden: bool = False  # part of the NumPy type only
    counter: str = ""  # name of the field that counts the elements
    enum: str = ""  # C name of the enumeration that the number belongs to


@dataclass(slots=True)
class NumpyStruct:
    """A struct class of the libraries whose functions raise: it has a NumPy type."""

    name: str
    c_type: str  # C++ spelling
    fields: list[NumpyField]
    is_array: bool  # constructed with a length
    dtype: str  # name of the NumPy type in the module; empty if only calls use the struct
    header: str = ""


@dataclass(slots=True)
class Typedef:
    """A typedef without a class: a plain number, or an alias of an enum."""

    name: str
    c_type: str
    header: str = ""


@dataclass(slots=True)
class Library:
    """A library in Python: classes and functions, with their facts and decisions."""

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
    uses: dict[str, Library]  # libraries whose classes are bases and values here

    @property
    def name(self) -> str:
        """The unique name of the library, a C++ identifier."""
        return self.decisions.library

    @property
    def module(self) -> str:
        """The name of the module in its package."""
        return self.decisions.module or self.name

    @property
    def table(self) -> str:
        """The library whose table holds the functions."""
        return self.decisions.face_of or self.name

    @property
    def is_face(self) -> bool:
        """Whether the module is a further face of another library."""
        return bool(self.decisions.face_of)

    @property
    def package(self) -> str:
        """The package of the generated modules."""
        return self.decisions.package

    @property
    def folder(self) -> str:
        """The folder of the generated modules below the root."""
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
        """`not_found` with the return type of functions."""
        result = self.decisions.result_type
        is_struct = result not in ("", self.decisions.result_enum)
        return f"{result}{{{self.not_found_c}}}" if is_struct else self.not_found_c

    @property
    def result_tag(self) -> str:
        """The name of the result enumeration in the header."""
        name = self.decisions.result_enum
        targets = (d.target for d in self.facts.types if getattr(d, "name", "") == name)
        return next(targets, name)

    @property
    def result_class(self) -> str:
        """The Python class of the result enumeration."""
        name = self.decisions.result_enum
        return next(e.name for e in self.enums if name in (e.name, e.c_name))

    def include(self, header: str) -> str:
        """The line that includes one of `headers`: CUDA's, or a generated one."""
        return (
            f'#include "headers/{header}"'
            if self.decisions.declares_itself
            else f"#include <{header}>"
        )

    @property
    def origin(self) -> str:
        """The first line of each generated file."""
        return origin_of(f"generator/api/{self.table}.api")


def origin_of(source: str) -> str:
    """The first line of a file generated from `source`, without its comment sign."""
    return f"Generated by `python -m generator emit` from {source}; do not edit."


def strip_version(name: str) -> str:
    """`cuMemAlloc_v2` -> `cuMemAlloc`."""
    head, _, tail = name.rpartition("_v")
    return head if head and tail.isdigit() else name
