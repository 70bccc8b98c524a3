# SPDX-License-Identifier: Apache-2.0
"""Decisions about one library, from `overrides/<library>.toml`, where each carries its reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
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
class DataTypeChoices:
    """What the structs of a library whose functions raise are called, and how they are shown."""

    hidden: str = ""  # pattern of C names that make no class
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
    loading: Loading
    headers: list[str]
    before: list[str]  # included ahead of the headers: what they forget to include
    include_dirs: list[str]  # below the root of the repository
    typedef_headers: list[str]
    version_macro: str
    result_enum: str
    result_type: str  # what functions return: the enumeration, or a struct that begins with it
    cimports: list[str]  # lines of the .pxd for types of other headers
    by_hand: bool  # api/ is written by people: no package has the header
    const_parameters: bool  # every parameter is const in the header, and so in what clients compare
    returned: set[str]  # functions whose code is what they were asked for
    foreign_structs: list[str]  # tags that other headers declare
    success: str
    not_found: str
    package: str
    convention: str  # "codes": the code leads the result; "exceptions": a failure raises
    prefixes: list[str]  # of the C names of functions and types, which Python leaves out
    defines: list[str]  # macros that the headers are read with
    not_found_value: int | None  # of `not_found`, when the header does not declare it
    declares_itself: bool  # its C declarations are written from api/: no header is needed
    includes: list[str]  # what those declarations need
    exception: str  # raised by the functions that return a code
    is_draft: bool  # facts can be extracted, but nothing is emitted yet
    module_scope: list[str]  # headers whose types the .pxd declares outside `extern`
    optional_headers: list[str]
    # what is taken from the headers
    uses: list[str]  # libraries whose classes are bases and values here
    skip: str  # pattern of names
    partial_headers: dict[str, list[str]]  # header -> the only types taken from it
    # heuristics
    identity_integers: set[str]
    always_in: set[str]
    iterators: set[str]
    short_lists: set[str]
    lists_by_address: set[str]
    handles_by_address: str
    address_roles: dict[str, str]
    export_enums: set[str]
    # decisions
    streams: set[str]
    rename: dict[str, str]
    attributes: dict[str, dict[str, str]]
    stored_as: dict[str, str]
    bases: dict[str, str]  # handle -> class of another library, as in "driver.CUstream"
    hidden: set[str]
    hidden_macro: str
    cimport_only: set[str]
    keeps_gil: set[str]
    older_variants: set[str]  # an older variant of the same C type will do for these
    hot: set[str]
    wrapped_callbacks: set[str]
    included_by: dict[str, str]  # header -> the one that a client includes in its place
    implemented_here: list[str]  # headers whose functions the library lacks
    functions: dict[str, Override]
    fields: dict[str, dict]
    joint_lists: dict[str, dict]
    enum_docs: dict[str, dict[str, str]]
    # names in Python, of libraries whose names are not those of C
    python_names: dict[str, str]  # C function -> function
    enum_names: dict[str, EnumNames]
    exceptions: dict[str, str]  # class derived from `exception` -> member of the result enum
    data_types: DataTypeChoices
    hidden_enums: set[str]  # enumerations that make no class
    exception_aliases: dict[str, str]  # further name -> exception class
    error_details: str  # C++ table of what errors have besides their status
    status_checks: list[str]  # functions that raise for a status: `check_status`
    insufficient: str  # status that says: too little memory for what is to be written
    lengths: dict[str, str]  # "function.parameter" -> parameter whose object tells it
    defaults: dict[str, int]  # "function.parameter" -> what it is without an argument: 0
    enum_aliases: dict[str, str]  # further name -> enumeration of another library
    inputs: set[str]  # "function.parameter": structs that a call reads, or changes in place
    objects: set[str]  # likewise: only an object of the class will do
    counted: dict[str, dict]  # function -> count and arrays that a first call tells the length of
    fixed: dict[str, int]  # "function.parameter" -> the number that it always is
    assembled: dict[str, list[AssembledStruct]]  # function -> structs that its call is made of
    macro_enums: dict[str, dict]  # class -> macros that make an enumeration
    constants: dict[str, str] | None  # name in Python -> macro; None: all, as C has them
    text_sizes: dict[str, int]  # function -> bytes of the buffer for the text that it returns

    @property
    def attribute_enums(self) -> set[str]:
        return set(self.attributes) - self.export_enums


def read(path: Path) -> Decisions:
    """Read one overrides file. A missing table means that the library has nothing of that sort."""
    data = tomllib.loads(path.read_text("utf-8"))
    library = data["library"]

    def names(table: str, key: str = "names") -> list[str]:
        return data.get(table, {}).get(key, [])

    def texts(table: str) -> dict:
        return {k: v for k, v in data.get(table, {}).items() if k != "reason"}

    return Decisions(
        library=library["name"],
        loading=Loading(**{"name": library["name"]} | texts("loading")),
        headers=library["headers"],
        before=library.get("before", []),
        include_dirs=library.get("include_dirs", []),
        typedef_headers=library.get("typedef_headers", []),
        version_macro=library.get("version_macro", ""),
        result_enum=library["result_enum"],
        result_type=library.get("result_type", library["result_enum"]),
        cimports=library.get("cimports", []),
        foreign_structs=library.get("foreign_structs", []),
        by_hand=library.get("by_hand", False),
        const_parameters=library.get("const_parameters", False),
        returned=set(names("returned")),
        success=library["success"],
        not_found=library["not_found"],
        package=library.get("package", "cuda.bindings"),
        convention=library.get("convention", "codes"),
        prefixes=library.get("prefixes", []),
        defines=library.get("defines", []),
        not_found_value=library.get("not_found_value"),
        declares_itself=library.get("declares_itself", False),
        includes=library.get("includes", ["stddef.h", "stdint.h"]),
        exception=library.get("exception", ""),
        is_draft=library.get("draft", False),
        module_scope=names("module_scope"),
        optional_headers=names("optional_headers"),
        uses=library.get("uses", []),
        skip="".join(data.get("skip", {}).get("pattern", "").split()),
        partial_headers=texts("partial_headers"),
        identity_integers=set(names("identity_integers")),
        always_in=set(names("always_in")),
        iterators=set(names("iterators")),
        short_lists=set(names("short_lists")),
        lists_by_address=set(names("lists_by_address")),
        handles_by_address=data.get("handles_by_address", {}).get("pattern", r"\bnone\b"),
        address_roles=texts("address_roles"),
        export_enums=set(names("export_enums")),
        streams=set(names("streams")),
        rename=texts("rename"),
        attributes=texts("attributes"),
        stored_as=texts("stored_as"),
        bases=texts("bases"),
        hidden=set(names("hidden")),
        hidden_macro=data.get("hidden", {}).get("macro", ""),
        cimport_only=set(names("cimport_only")),
        keeps_gil=set(names("keeps_gil")),
        older_variants=set(names("older_variants")),
        hot=set(names("hot")),
        wrapped_callbacks=set(names("wrapped_callbacks")),
        included_by=texts("included_by"),
        implemented_here=names("implemented_here", "headers"),
        functions={name: Override(**table) for name, table in data.get("functions", {}).items()},
        fields=texts("fields"),
        joint_lists=texts("joint_lists"),
        enum_docs=texts("docs"),
        python_names=texts("python_names"),
        enum_names={name: EnumNames(**table) for name, table in texts("enum_names").items()},
        exceptions=texts("exceptions"),
        data_types=data_type_choices(texts("data_types")),
        hidden_enums=set(names("hidden_enums")),
        exception_aliases=texts("exception_aliases"),
        error_details=library.get("error_details", ""),
        status_checks=library.get("status_checks", []),
        insufficient=library.get("insufficient", ""),
        lengths=texts("lengths"),
        defaults=texts("defaults"),
        enum_aliases=texts("enum_aliases"),
        inputs=set(names("inputs")),
        objects=set(names("objects")),
        counted=texts("counted"),
        fixed=texts("fixed"),
        assembled={
            name: [AssembledStruct(**one) for one in (many if isinstance(many, list) else [many])]
            for name, many in texts("assembled").items()
        },
        macro_enums=texts("macro_enums"),
        constants=texts("constants") if "constants" in data else None,
        text_sizes=texts("text_sizes"),
    )


def data_type_choices(table: dict) -> DataTypeChoices:
    """Each table in it carries its reason as well."""
    without = {
        key: {k: v for k, v in value.items() if k != "reason"} if isinstance(value, dict) else value
        for key, value in table.items()
    }
    without["hidden"] = "".join(table.get("hidden", "").split())
    return DataTypeChoices(**without)
