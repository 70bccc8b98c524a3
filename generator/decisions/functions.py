# SPDX-License-Identifier: Apache-2.0
"""The decisions about functions: one entry of `[functions]` has all that is special about one."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

# Values of properties; the first is the default.
WORDS = {"gil": ("release", "keep"), "needs": ("context", "driver", "connection", "nothing")}


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
class FunctionDecision:
    """The properties of one function that differ from the rules."""

    reason: str = ""
    name: str = ""  # in Python
    aliases: list[str] = field(default_factory=list)  # further names in Python
    variant_of: str = ""  # C function of a further function in Python
    cimport_only: bool = False
    hidden: bool = False  # the header declares it for the build of the driver only
    gil: str = WORDS["gil"][0]
    hot: bool = False
    waits: bool | None = None  # acquires the lock of the context, or waits for work; None: unknown
    needs: str = WORDS["needs"][0]  # what an emulated function needs to work
    older_variants: bool = False  # an older variant with the same C type may replace it
    wraps_callback: bool = False
    code_is_result: bool = False
    size_function: str = ""  # function that returns its number of elements or bytes
    text_size: int = 0  # of the buffer for its text
    body: str = ""
    result: str = ""  # Python type of the result of the body
    overloads: list[str] = field(default_factory=list)
    doc: str = ""
    # Properties of C parameters.
    roles: dict[str, str] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)  # structs that the call reads or changes
    objects: list[str] = field(default_factory=list)  # only an object of the class is accepted
    lengths: dict[str, str] = field(default_factory=dict)  # -> parameter that has this length
    defaults: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)  # -> constant value
    counted: dict = field(default_factory=dict)  # arrays that the call fills, and their count
    assembled: list[AssembledStruct] = field(default_factory=list)

    @property
    def named_parameters(self) -> set[str]:
        """The C parameters that the entry names."""
        by_name = (self.roles, self.inputs, self.objects, self.lengths, self.defaults, self.fixed)
        arrays = (*self.counted.get("arrays", ()), *self.counted.get("structs", ()))
        return {*arrays, *(a.param for a in self.assembled)}.union(*by_name)


NO_DECISION = FunctionDecision()
PROPERTIES = {f.name for f in fields(FunctionDecision)} - {"reason"}


def read_functions(
    file: str, entries: dict[str, dict], reasons: dict[str, str]
) -> dict[str, FunctionDecision]:
    """Read `[functions]`. `reasons` has the reasons that entries share, by property."""
    if unused := reasons.keys() - {key for entry in entries.values() for key in entry}:
        raise ValueError(f"{file}: [reasons]: no function has {listing(unused)}")
    for name, entry in entries.items():
        if problem := problem_of(entry, reasons):
            raise ValueError(f"{file}: [functions] {name}: {problem}")
    return {name: read_entry(entry) for name, entry in entries.items()}


def problem_of(entry: dict, reasons: dict[str, str]) -> str:
    """Why an entry is refused; empty for a valid one."""
    properties = entry.keys() - {"reason"}
    if unknown := properties - PROPERTIES:
        return f"there is no property {listing(unknown)}"
    if not properties:
        return "the entry says nothing; remove it, or add a property"
    if same := [key for key in properties if entry[key] == getattr(NO_DECISION, key)]:
        return f"{listing(same)} has its default value; remove it"
    if not entry.get("reason") and (bare := properties - reasons.keys()):
        return f"{listing(bare)} has no reason, neither here nor in [reasons]"
    for key, words in WORDS.items():
        if entry.get(key, words[0]) not in words:
            return f"{key} is {entry[key]!r}, not one of {', '.join(words)}"
    if entry.get("gil") == "keep" and entry.get("waits"):
        return "it waits, so it must release the GIL: another thread may need the GIL to go on"
    return ""


def read_entry(entry: dict) -> FunctionDecision:
    """Read a valid entry. A single assembled struct needs no list in the file."""
    assembled = entry.get("assembled", [])
    structs = assembled if isinstance(assembled, list) else [assembled]
    return FunctionDecision(**entry | {"assembled": [AssembledStruct(**one) for one in structs]})


def listing(names) -> str:
    return ", ".join(sorted(names))
