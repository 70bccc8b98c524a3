# SPDX-License-Identifier: Apache-2.0
"""Decisions about one library, from `overrides/<library>.toml`; each has a reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path

from .functions import NO_DECISION, FunctionDecision, read_functions
from .tables import READERS, EnumNames, Loading, NumpyStructChoices, by_type, texts


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
    # return type of functions: the enumeration, or a struct that begins with it
    result_type: str = ""
    # lines of the .pxd for types of other headers
    cimports: list[str] = field(default_factory=list)
    by_hand: bool = False  # api/ is handwritten: no package has the header
    # every parameter is const in the header, and so in capsule signatures
    const_parameters: bool = False
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
    hidden_macro: str = ""
    gated: str = ""  # pattern of functions that must not run while the process exits
    # pattern of functions that release the GIL only if another thread could acquire it
    brief: str = ""
    # pattern of functions that submit work or query it: a lone thread keeps the GIL
    submits: str = ""
    # pattern of functions that pass a function to the driver which may need the GIL
    calls_back: str = ""
    hot: str = ""  # pattern of functions with a specialized form
    lookups: str = ""  # pattern of functions that need a driver, but no context
    releases: str = ""  # pattern of functions that release a resource, also in a broken context
    # header -> header that clients include instead
    included_by: dict[str, str] = field(default_factory=dict)
    # headers whose functions the library lacks
    implemented_here: list[str] = field(default_factory=list)
    functions: dict[str, FunctionDecision] = field(default_factory=dict)
    fields: dict[str, dict] = field(default_factory=dict)
    joint_lists: dict[str, dict] = field(default_factory=dict)
    enum_docs: dict[str, dict[str, str]] = field(default_factory=dict)
    # name -> its words: "Memcpy2D" = "Memcpy_2d"
    words: dict[str, str] = field(default_factory=dict)
    # typedef -> number type in a .pxd
    spelled: dict[str, str] = field(default_factory=dict)
    python_names: dict[str, str] = field(default_factory=dict)  # C type -> class
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
    # further name -> enumeration of another library
    enum_aliases: dict[str, str] = field(default_factory=dict)
    # class -> macros of an enumeration
    macro_enums: dict[str, dict] = field(default_factory=dict)
    # name in Python -> macro; None: all, with their C names
    constants: dict[str, str] | None = None

    @property
    def attribute_enums(self) -> set[str]:
        return set(self.attributes) - self.export_enums

    def function(self, name: str) -> FunctionDecision:
        """The decision about a function, without properties if there is none."""
        return self.functions.get(name, NO_DECISION)

    @property
    def named_functions(self) -> set[str]:
        """The C functions that entries of `[functions]` are about, or name."""
        names = {decided.variant_of or name for name, decided in self.functions.items()}
        return names | {f.size_function for f in self.functions.values() if f.size_function}

    @property
    def hidden(self) -> set[str]:
        """The functions that the header declares for the build of the driver only."""
        return {name for name, decided in self.functions.items() if decided.hidden}


def read(path: Path) -> Decisions:
    """Read one overrides file. A missing table is empty."""
    data = tomllib.loads(path.read_text("utf-8"))
    library = data.pop("library")
    values = {"library": library["name"], "result_type": library["result_enum"]}
    values |= {k: v for k, v in library.items() if k != "name"}
    values["enum_docs"] = texts(data.pop("docs", {}))
    values["loading"] = Loading(**{"name": library["name"]} | texts(data.pop("loading", {})))
    functions, reasons = data.pop("functions", {}), data.pop("reasons", {})
    values["functions"] = read_functions(path.name, functions, reasons)
    types = {f.name: str(f.type) for f in fields(Decisions)}
    if unknown := data.keys() - types.keys():
        raise ValueError(f"{path.name}: no such table: {', '.join(sorted(unknown))}")
    for name, table in data.items():
        values[name] = READERS.get(name, by_type(types[name]))(table)
    return Decisions(**values)
