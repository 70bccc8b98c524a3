# SPDX-License-Identifier: Apache-2.0
"""Decisions about one library, from `overrides/<library>.toml`; each has a reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path


@dataclass(slots=True)
class Override:
    """Special properties of one function."""

    reason: str
    roles: dict[str, str] = field(default_factory=dict)  # C parameter -> role
    body: str | None = None
    doc: str = ""
    overloads: list[str] = field(default_factory=list)
    result: str = ""  # Python type of the result of the body


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
class AssembledStruct:
    """A struct built from arguments of a call, which returns a field of it or the struct."""

    param: str  # C parameter
    inputs: dict[str, str] = field(default_factory=dict)  # member -> argument
    out: str = ""  # member that is returned; "": the struct; "nothing"
    counted: str = ""  # member that points to an array; a first call returns its length
    type: str = ""  # class of the struct, if the header's parameter has another type
    older: str = ""  # class of the struct for older drivers


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


@dataclass(slots=True)
class Decisions:
    library: str
    headers: list[str]
    result_enum: str
    success: str
    not_found: str
    loading: Loading = field(default_factory=Loading)
    # included before the headers, which need but do not include these
    before: list[str] = field(default_factory=list)
    include_dirs: list[str] = field(default_factory=list)  # below the root of the repository
    typedef_headers: list[str] = field(default_factory=list)
    version_macro: str = ""
    result_type: str = (
        ""  # return type of functions: the enumeration, or a struct that begins with it
    )
    # lines of the .pxd for types of other headers
    cimports: list[str] = field(default_factory=list)
    by_hand: bool = False  # api/ is handwritten: no package has the header
    # every parameter is const in the header, and so in capsule signatures
    const_parameters: bool = False
    # functions whose code is their result
    returned: set[str] = field(default_factory=set)
    foreign_structs: list[str] = field(default_factory=list)  # tags declared in other headers
    package: str = "cuda.bindings"
    # the code leads the result; "exceptions", "plain_values": a failure raises
    convention: str = "status_codes"
    # library with the facts and functions: the module is a further face of it
    face_of: str = ""
    module: str = ""  # name in the package, if it differs from the library
    # prefixes of C names of functions and types, omitted in Python
    prefixes: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)  # macros defined for reading the headers
    not_found_value: int | None = None  # of `not_found`, if the header does not declare it
    declares_itself: bool = False  # C declarations are generated from api/: no header is needed
    # headers that those declarations need
    includes: list[str] = field(default_factory=lambda: ["stddef.h", "stdint.h"])
    exception: str = ""  # raised by the functions that return a code
    # headers whose types the .pxd declares outside `extern`
    module_scope: list[str] = field(default_factory=list)
    optional_headers: list[str] = field(default_factory=list)
    # selection from the headers
    # libraries whose classes are bases and values here
    uses: list[str] = field(default_factory=list)
    skip: str = ""  # pattern of names
    # header -> the only types used from it
    partial_headers: dict[str, list[str]] = field(default_factory=dict)
    # heuristics
    identity_integers: set[str] = field(default_factory=set)
    always_in: set[str] = field(default_factory=set)
    iterators: set[str] = field(default_factory=set)
    short_lists: set[str] = field(default_factory=set)
    optional_lists: set[str] = field(default_factory=set)
    lists_by_address: set[str] = field(default_factory=set)
    handles_by_address: str = r"\bnone\b"
    address_roles: dict[str, str] = field(default_factory=dict)
    export_enums: set[str] = field(default_factory=set)
    # decisions
    streams: set[str] = field(default_factory=set)
    rename: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    stored_as: dict[str, str] = field(default_factory=dict)
    # handle -> class of another library, as in "driver.CUstream"
    bases: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    hidden_macro: str = ""
    cimport_only: set[str] = field(default_factory=set)
    keeps_gil: set[str] = field(default_factory=set)
    gated: str = ""  # pattern of functions that must not run while the process exits
    brief: str = (
        ""  # pattern of functions that release the GIL only if another thread could acquire it
    )
    # functions that may use an older variant with the same C type
    older_variants: set[str] = field(default_factory=set)
    hot: set[str] = field(default_factory=set)
    hot_pattern: str = ""  # pattern of further functions
    wrapped_callbacks: set[str] = field(default_factory=set)
    # header -> header that clients include instead
    included_by: dict[str, str] = field(default_factory=dict)
    # headers whose functions the library lacks
    implemented_here: list[str] = field(default_factory=list)
    functions: dict[str, Override] = field(default_factory=dict)
    fields: dict[str, dict] = field(default_factory=dict)
    joint_lists: dict[str, dict] = field(default_factory=dict)
    enum_docs: dict[str, dict[str, str]] = field(default_factory=dict)
    # name -> its words: "Memcpy2D" = "Memcpy_2d"
    words: dict[str, str] = field(default_factory=dict)
    # further name -> function
    function_aliases: dict[str, str] = field(default_factory=dict)
    # further function in Python -> C function; overrides use the Python name
    variants: dict[str, str] = field(default_factory=dict)
    # function -> function that returns its number of elements or bytes
    size_functions: dict[str, str] = field(default_factory=dict)
    # "function.parameter" -> role, if an override needs nothing else
    roles: dict[str, str] = field(default_factory=dict)
    # typedef -> number type in a .pxd
    spelled: dict[str, str] = field(default_factory=dict)
    # names in Python, of libraries whose Python names differ from C
    python_names: dict[str, str] = field(default_factory=dict)  # C function -> function
    enum_names: dict[str, EnumNames] = field(default_factory=dict)
    # class derived from `exception` -> member of the result enum
    exceptions: dict[str, str] = field(default_factory=dict)
    exception_per_code: bool = False  # each other code has an exception of its name
    numpy_structs: NumpyStructChoices = field(default_factory=NumpyStructChoices)
    hidden_enums: set[str] = field(default_factory=set)  # enumerations without a class
    # further name -> exception class
    exception_aliases: dict[str, str] = field(default_factory=dict)
    error_details: str = ""  # C++ table of functions for errors
    # optional constructor argument of errors -> attribute
    error_extras: dict[str, str] = field(default_factory=dict)
    # functions that raise for a status: `check_status`
    status_checks: list[str] = field(default_factory=list)
    python_enums: bool = False  # enumerations are classes of Python's `enum`
    # structs without a tag that have one class, named like their typedef
    direct_structs: set[str] = field(default_factory=set)
    # constants whose names begin with an underscore
    underscored_constants: set[str] = field(default_factory=set)
    insufficient: str = ""  # status of an output buffer that is too small
    # handles that must not be null, and the status of a call with a null handle
    refuses_null: dict[str, str | list] = field(default_factory=dict)
    # "function.parameter" -> parameter whose object has this length
    lengths: dict[str, str] = field(default_factory=dict)
    # "function.parameter" -> default value: 0
    defaults: dict[str, int] = field(default_factory=dict)
    # further name -> enumeration of another library
    enum_aliases: dict[str, str] = field(default_factory=dict)
    # "function.parameter": structs that a call reads or changes in place
    inputs: set[str] = field(default_factory=set)
    objects: set[str] = field(
        default_factory=set
    )  # "function.parameter": only an object of the class is accepted
    # function -> count and arrays; a first call returns the length
    counted: dict[str, dict] = field(default_factory=dict)
    # "function.parameter" -> constant value
    fixed: dict[str, int] = field(default_factory=dict)
    # function -> structs built from its arguments
    assembled: dict[str, list[AssembledStruct]] = field(default_factory=dict)
    # class -> macros of an enumeration
    macro_enums: dict[str, dict] = field(default_factory=dict)
    constants: dict[str, str] | None = (
        None  # name in Python -> macro; None: all, with their C names
    )
    # function -> size of the buffer for its text
    text_sizes: dict[str, int] = field(default_factory=dict)

    @property
    def attribute_enums(self) -> set[str]:
        return set(self.attributes) - self.export_enums


def read(path: Path) -> Decisions:
    """Read one overrides file. A missing table is empty."""
    data = tomllib.loads(path.read_text("utf-8"))
    library = data["library"]
    values = {k: v for k, v in library.items() if k != "name"}
    values["library"] = library["name"]
    values.setdefault("result_type", library["result_enum"])
    tables = {name: table for name, table in data.items() if name != "library"}
    if unknown := tables.keys() - {"docs", *(f.name for f in fields(Decisions))}:
        raise ValueError(f"{path.name}: no such table: {', '.join(sorted(unknown))}")
    for f in fields(Decisions):
        if f.name in tables:
            values[f.name] = READERS.get(f.name, by_type(str(f.type)))(tables[f.name])
    values["enum_docs"] = texts(tables.get("docs", {}))
    values["hidden_macro"] = tables.get("hidden", {}).get("macro", "")
    values["hot_pattern"] = pattern(tables.get("hot", {}))
    values["loading"] = Loading(**{"name": library["name"]} | texts(tables.get("loading", {})))
    return Decisions(**values)


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


def assembled_structs(table: dict) -> dict[str, list[AssembledStruct]]:
    """Map functions to their structs. A single struct needs no list in the file."""
    lists = {k: v if isinstance(v, list) else [v] for k, v in texts(table).items()}
    return {name: [AssembledStruct(**one) for one in many] for name, many in lists.items()}


def numpy_struct_choices(table: dict) -> NumpyStructChoices:
    """The choices; each table in it has its own reason."""
    without = {
        key: {k: v for k, v in value.items() if k != "reason"} if isinstance(value, dict) else value
        for key, value in table.items()
    }
    without["hidden"] = "".join(table.get("hidden", "").split())
    return NumpyStructChoices(**without)


# Tables that are neither lists of names nor texts by name.
READERS = {
    "skip": pattern,
    "brief": pattern,
    "gated": pattern,
    "handles_by_address": lambda table: table["pattern"],
    "implemented_here": lambda table: table["headers"],
    "functions": lambda table: {name: Override(**one) for name, one in table.items()},
    "enum_names": lambda table: {name: EnumNames(**one) for name, one in texts(table).items()},
    "numpy_structs": lambda table: numpy_struct_choices(texts(table)),
    "assembled": assembled_structs,
}
