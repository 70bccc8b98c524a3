# SPDX-License-Identifier: Apache-2.0
"""Decisions about one library, from `overrides/<library>.toml`, where each carries its reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path


@dataclass(slots=True)
class Override:
    """What is special about one function."""

    reason: str
    roles: dict[str, str] = field(
        default_factory=dict
    )  # C parameter -> role in place of the heuristics'
    body: str | None = None
    doc: str = ""
    overloads: list[str] = field(default_factory=list)
    result: str = ""  # Python type of what the body makes of the outputs


@dataclass(slots=True)
class Loading:
    """How the library is opened at its first call."""

    how: str = "pathfinder"  # or "backend": the driver; "extension": a module that holds it
    name: str = ""  # what the pathfinder calls it; the module
    package: str = ""  # to install when it is missing
    remedy: str = ""  # what to do when it is missing, where that is not what a toolkit needs
    emulated: str = ""  # file of ours beside the loader that stands in for it on the emulator

    @property
    def what_to_do(self) -> str:
        return self.remedy or f"Install {self.package}, or set CUDA_PATH to a CUDA toolkit."


@dataclass(slots=True)
class EnumNames:
    """How the members of one enumeration are called in Python."""

    prefix: str | None = None  # of the C names; None: what they have in common
    also: str = ""  # a shorter prefix: the names without it are aliases
    renames: dict[str, str] = field(default_factory=dict)  # C name -> member
    aliases: dict[str, str] = field(default_factory=dict)  # further name -> member


@dataclass(slots=True)
class AssembledStruct:
    """A struct that a call is made of: arguments go into its fields, and one comes out."""

    param: str  # C parameter
    inputs: dict[str, str] = field(default_factory=dict)  # member -> argument
    out: str = ""  # member that is returned; "": the struct; "nothing"
    counted: str = ""  # member that points to an array, whose length a first call tells
    type: str = ""  # class of the struct, where the header's parameter is another one
    older: str = ""  # class of the struct that an older driver fills in its place


@dataclass(slots=True)
class NumpyStructChoices:
    """What the structs of a library whose functions raise are called, and how they are shown."""

    hidden: str = ""  # pattern of C names that make no class
    # pattern of members that NumPy alone is told of
    padding: str = r"(?!)"
    arrays: list[str] = field(default_factory=list)  # classes that are made with a length
    typedefs: dict[str, str] = field(default_factory=dict)  # tag -> typedef that names the class
    anonymous: dict[str, str] = field(default_factory=dict)  # "Struct.member" -> class
    dtypes: dict[str, str] = field(default_factory=dict)  # class -> name of its NumPy type
    fields: dict[str, str] = field(default_factory=dict)  # "Struct.member" -> Python name
    forms: dict[str, str] = field(default_factory=dict)  # "Struct.member" -> form of the field
    counters: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # struct -> array -> member that counts its elements, and is not shown beside it
    shown: dict[str, list[str]] = field(default_factory=dict)  # struct -> counters shown after all


@dataclass(slots=True)
class Decisions:
    library: str
    headers: list[str]
    result_enum: str
    success: str
    not_found: str
    loading: Loading = field(default_factory=Loading)
    # included ahead of the headers: what they forget to include
    before: list[str] = field(default_factory=list)
    include_dirs: list[str] = field(default_factory=list)  # below the root of the repository
    typedef_headers: list[str] = field(default_factory=list)
    version_macro: str = ""
    result_type: str = ""  # what functions return: the enumeration, or a struct that begins with it
    # lines of the .pxd for types of other headers
    cimports: list[str] = field(default_factory=list)
    by_hand: bool = False  # api/ is written by people: no package has the header
    # every parameter is const in the header, and so in what clients compare
    const_parameters: bool = False
    # functions whose code is what they were asked for
    returned: set[str] = field(default_factory=set)
    foreign_structs: list[str] = field(default_factory=list)  # tags that other headers declare
    package: str = "cuda.bindings"
    # lead the result; "exceptions", "plain_values": a failure raises
    convention: str = "status_codes"
    # library whose facts and functions these are: the module is one more face of it
    face_of: str = ""
    module: str = ""  # name in the package, when it is not that of the library
    # of the C names of functions and types, which Python leaves out
    prefixes: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)  # macros that the headers are read with
    not_found_value: int | None = None  # of `not_found`, when the header does not declare it
    declares_itself: bool = False  # its C declarations are written from api/: no header is needed
    # what those declarations need
    includes: list[str] = field(default_factory=lambda: ["stddef.h", "stdint.h"])
    exception: str = ""  # raised by the functions that return a code
    # headers whose types the .pxd declares outside `extern`
    module_scope: list[str] = field(default_factory=list)
    optional_headers: list[str] = field(default_factory=list)
    # what is taken from the headers
    # libraries whose classes are bases and values here
    uses: list[str] = field(default_factory=list)
    skip: str = ""  # pattern of names
    # header -> the only types taken from it
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
    gated: str = ""  # pattern of functions that must not run when the process ends
    brief: str = ""  # pattern of functions that release it only where another thread could take it
    # an older variant of the same C type will do for these
    older_variants: set[str] = field(default_factory=set)
    hot: set[str] = field(default_factory=set)
    hot_pattern: str = ""  # of the names of others
    wrapped_callbacks: set[str] = field(default_factory=set)
    # header -> the one that a client includes in its place
    included_by: dict[str, str] = field(default_factory=dict)
    # headers whose functions the library lacks
    implemented_here: list[str] = field(default_factory=list)
    functions: dict[str, Override] = field(default_factory=dict)
    fields: dict[str, dict] = field(default_factory=dict)
    joint_lists: dict[str, dict] = field(default_factory=dict)
    enum_docs: dict[str, dict[str, str]] = field(default_factory=dict)
    # what a name is split into words as: "Memcpy2D" = "Memcpy_2d"
    words: dict[str, str] = field(default_factory=dict)
    # further name -> function
    function_aliases: dict[str, str] = field(default_factory=dict)
    # further function in Python -> C function that it calls as well; overrides name the former
    variants: dict[str, str] = field(default_factory=dict)
    # function -> the one that tells how many numbers or bytes it gives
    asked: dict[str, str] = field(default_factory=dict)
    # "function.parameter" -> role, of many that say no more than that
    roles: dict[str, str] = field(default_factory=dict)
    # typedef -> number that it is declared as in a .pxd
    spelled: dict[str, str] = field(default_factory=dict)
    # names in Python, of libraries whose names are not those of C
    python_names: dict[str, str] = field(default_factory=dict)  # C function -> function
    enum_names: dict[str, EnumNames] = field(default_factory=dict)
    # class derived from `exception` -> member of the result enum
    exceptions: dict[str, str] = field(default_factory=dict)
    exception_per_code: bool = False  # the others get one as well, named after them
    numpy_structs: NumpyStructChoices = field(default_factory=NumpyStructChoices)
    hidden_enums: set[str] = field(default_factory=set)  # enumerations that make no class
    # further name -> exception class
    exception_aliases: dict[str, str] = field(default_factory=dict)
    error_details: str = ""  # C++ table of what errors have besides their status
    # what that is in Python: argument that may follow the status -> attribute
    error_extras: dict[str, str] = field(default_factory=dict)
    # functions that raise for a status: `check_status`
    status_checks: list[str] = field(default_factory=list)
    python_enums: bool = False  # the classes of enumerations are of Python's `enum`
    # structs without a tag that are one class, under the name of their typedef
    direct_structs: set[str] = field(default_factory=set)
    # constants, although their names begin with an underscore
    underscored_constants: set[str] = field(default_factory=set)
    insufficient: str = ""  # status that says: too little memory for what is to be written
    # handles that are not null, and the status of a call that gets null all the same
    refuses_null: dict[str, str | list] = field(default_factory=dict)
    # "function.parameter" -> parameter whose object tells it
    lengths: dict[str, str] = field(default_factory=dict)
    # "function.parameter" -> what it is without an argument: 0
    defaults: dict[str, int] = field(default_factory=dict)
    # further name -> enumeration of another library
    enum_aliases: dict[str, str] = field(default_factory=dict)
    # "function.parameter": structs that a call reads, or changes in place
    inputs: set[str] = field(default_factory=set)
    objects: set[str] = field(default_factory=set)  # likewise: only an object of the class will do
    # function -> count and arrays that a first call tells the length of
    counted: dict[str, dict] = field(default_factory=dict)
    # "function.parameter" -> the number that it always is
    fixed: dict[str, int] = field(default_factory=dict)
    # function -> structs that its call is made of
    assembled: dict[str, list[AssembledStruct]] = field(default_factory=dict)
    # class -> macros that make an enumeration
    macro_enums: dict[str, dict] = field(default_factory=dict)
    constants: dict[str, str] | None = None  # name in Python -> macro; None: all, as C has them
    # function -> bytes of the buffer for the text that it returns
    text_sizes: dict[str, int] = field(default_factory=dict)

    @property
    def attribute_enums(self) -> set[str]:
        return set(self.attributes) - self.export_enums


def read(path: Path) -> Decisions:
    """Read one overrides file. A missing table means that the library has nothing of that sort."""
    data = tomllib.loads(path.read_text("utf-8"))
    library = data["library"]
    found = {k: v for k, v in library.items() if k != "name"}
    found["library"] = library["name"]
    found.setdefault("result_type", library["result_enum"])
    tables = {name: table for name, table in data.items() if name != "library"}
    if unknown := tables.keys() - {"docs", *(f.name for f in fields(Decisions))}:
        raise ValueError(f"{path.name}: no such table: {', '.join(sorted(unknown))}")
    for f in fields(Decisions):
        if f.name in tables:
            found[f.name] = READERS.get(f.name, by_type(str(f.type)))(tables[f.name])
    found["enum_docs"] = texts(tables.get("docs", {}))
    found["hidden_macro"] = tables.get("hidden", {}).get("macro", "")
    found["hot_pattern"] = pattern(tables.get("hot", {}))
    found["loading"] = Loading(**{"name": library["name"]} | texts(tables.get("loading", {})))
    return Decisions(**found)


def texts(table: dict) -> dict:
    """A table without the reason that it carries."""
    return {k: v for k, v in table.items() if k != "reason"}


def names(table: dict) -> list[str]:
    return table.get("names", [])


def pattern(table: dict) -> str:
    """Long patterns are written over several lines."""
    return "".join(table.get("pattern", "").split())


def by_type(annotation: str):
    """What reads a table into a field of that type."""
    if annotation.startswith("set["):
        return lambda table: set(names(table))
    return names if annotation.startswith("list[") else texts


def assembled_structs(table: dict) -> dict[str, list[AssembledStruct]]:
    """One struct of a call needs no list."""
    lists = {k: v if isinstance(v, list) else [v] for k, v in texts(table).items()}
    return {name: [AssembledStruct(**one) for one in many] for name, many in lists.items()}


def numpy_struct_choices(table: dict) -> NumpyStructChoices:
    """Each table in it carries its reason as well."""
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
