# SPDX-License-Identifier: Apache-2.0
"""Heuristics: the role of a C parameter, from its type, name, position and the header's comment.

No rule names a function. `overrides/` correct wrong roles, and `report` counts the corrections.
`resolve` combines the role and the C type to the kind that emitters use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .decisions import Decisions
from .facts import FactEnum, FactFunction, FactRecord, Facts, FactTypedef

FIXED_WIDTH = tuple(f"{sign}int{bits}_t" for bits in (8, 16, 32, 64) for sign in ("", "u"))
INTEGERS = ("char", "short", "int", "long", "long long")
SCALARS = {"signed char", "size_t", "ssize_t", "off_t", "float", "double", "bool", *FIXED_WIDTH}
SCALARS |= {*INTEGERS, *(f"unsigned {name}" for name in INTEGERS)}
COUNTERS = {"size_t", "int", "unsigned int"}

# a comment that opens like this describes an output
RETURNS = re.compile(
    r"^(optional |pointer to (the )?|optional pointer to |optional array to |optional location to "
    r"|location (of|to)? ?|buffer where .*(are|is) )?(the )?(return|output|retrieved|result)",
    re.I,
)
# wording further inside a comment that makes an output of a struct
PLACED = re.compile(r"in here|is placed|object to create|error info", re.I)
PARAM = re.compile(
    r"[\\@]param\s*(?:\[\s*(\w+(?:\s*,\s*\w+)?)\s*\])?\s+(\w+(?:\s*,\s*\w+)*)\s*[-\u2013]?\s*(.*?)"
    r"(?=\n\s*[\\@](?:param|return|sa|note|details|brief|p\b)|\n\s*\n|\Z)",
    re.S,
)


@dataclass(slots=True)
class View:
    """Properties of one parameter that the rules use."""

    name: str
    spelling: str
    base: str  # type without const and stars
    stars: int
    kind: str  # void, char, scalar, handle, enum, struct, callback, function
    is_const: bool
    comment: str
    says_out: bool  # [out] in the comment

    @property
    def is_returned(self) -> bool:
        return self.says_out or bool(RETURNS.search(self.comment)) or self.name.endswith("_out")

    @property
    def is_array_pointer(self) -> bool:
        if self.base == "char":
            return self.stars == 2
        return self.stars >= 1 and not (self.base == "void" and self.stars == 1)

    @property
    def is_counter(self) -> bool:
        named = re.match(r"(num|nb|count$)", self.name) or self.name.endswith("Count")
        return self.stars == 0 and self.base in COUNTERS and bool(named)


class Classifier:
    def __init__(self, facts: Facts, decisions: Decisions):
        self.decisions = decisions
        self.kinds = type_kinds(facts, decisions)
        self.opaque = opaque_handles(facts)

    def classify(self, function: FactFunction, comment: str) -> None:
        views = self.views(function, comment)
        groups = count_groups(views)
        roles = [self.role(function.name, views, groups, i) for i in range(len(views))]
        self.attributes(function.name, views, roles)
        callbacks(views, roles)
        for param, role in zip(function.params, roles, strict=True):
            param.kind = role

    def views(self, function: FactFunction, comment: str) -> list[View]:
        described = describe(comment)
        views = []
        for p in function.params:
            direction, text = described.get(p.name, ("", ""))
            base, stars = self.opaque.get(split_type(p.c_type)) or split_type(p.c_type)
            kind = base if base in ("void", "char") and stars else self.kinds.get(base, "callback")
            views.append(
                View(
                    p.name,
                    p.c_type,
                    base,
                    stars,
                    kind,
                    p.c_type.startswith("const "),
                    text,
                    "out" in direction,
                )
            )
        return views

    def role(self, function: str, views: list[View], groups: dict[int, int], i: int) -> str:
        """The role of one parameter."""
        view = views[i]
        if view.stars == 0 or "(*" in view.spelling:
            return "in"
        rules = {"char": self.text, "void": self.address, "struct": self.struct}
        rule = rules.get(view.kind, self.value)
        return rule(function, views, groups, i)

    def text(self, _function: str, views: list[View], groups: dict[int, int], i: int) -> str:
        view = views[i]
        following = views[i + 1] if i + 1 < len(views) else None
        if view.stars == 2:
            return f"list[{views[groups[i]].name}]" if i in groups else "out"
        if not view.is_const and following:
            if following.name in ("len", "length", "bufSize"):
                return f"out text[{following.name}]"
            if (
                following.stars == 1
                and view.is_returned
                and not following.is_const
                and following.base != "size_t"
            ):
                return "out bytes[8]"
        return "in"

    def address(self, _function: str, views: list[View], groups: dict[int, int], i: int) -> str:
        view = views[i]
        if view.stars == 1:
            return "in"
        return self.decisions.address_roles.get(view.name) or (
            f"list[{views[groups[i]].name}]" if i in groups else "out"
        )

    def struct(self, function: str, views: list[View], groups: dict[int, int], i: int) -> str:
        view = views[i]
        if (shared := self.listed(views, groups, i)) is not None:
            return shared
        if view.is_const or view.base in self.decisions.always_in:
            return "in"
        setter = re.search(
            r"Add\w*Node(_v\d)?$|Set(Params|Attribute|Access)|_set|ReturnFrame", function
        )
        getter = re.search(r"Get|Export|Properties|Query|[Aa]lloc", function) and not re.search(
            r"Import|Create|Set", function
        )
        returned = view.is_returned or getter or PLACED.search(view.comment)
        if (returned and not setter) or view.comment.startswith("Returned"):
            return "out"
        return "in"

    def value(self, function: str, views: list[View], groups: dict[int, int], i: int) -> str:
        """The role of a pointer to a handle, enum or number."""
        view = views[i]
        if view.kind == "function":
            return "ptr"
        if (shared := self.listed(views, groups, i)) is not None:
            return shared
        if view.base in self.decisions.iterators:
            return "out" if view.name.endswith("_out") else "iterator"
        if view.is_const:
            return "list5" if view.base in self.decisions.short_lists else "list"
        if view.kind == "handle":
            by_address = re.search(self.decisions.handles_by_address, function)
            return (
                "ptr" if by_address and not view.comment.lower().startswith("returned") else "out"
            )
        if re.search(r"swap", view.comment):
            return "inout"
        if (
            view.base == "size_t"
            and i
            and split_type(views[i - 1].spelling) == ("char", 1)
            and not views[i - 1].is_const
        ):
            return "inout"
        return "out"

    def listed(self, views: list[View], groups: dict[int, int], i: int) -> str | None:
        """The role of an array with a count or capacity, or owned by the callee; else None."""
        view = views[i]
        capacity = capacity_index(views)
        if view.stars == 2:
            counter = next((v for v in views[i + 1 :] if v.stars == 1 and v.base == "size_t"), None)
            return f"out callee list[{counter.name if counter else ''}]"
        if i in groups:
            count = views[groups[i]].name
            if view.is_returned and not view.is_const:
                return f"out list[{count}]"
            return "ptr" if view.base in self.decisions.lists_by_address else f"list[{count}]"
        if capacity is not None:
            if i == capacity:
                return "count"
            if view.kind in ("handle", "struct") and not view.is_const and i < capacity:
                return f"out list[{views[capacity].name}]"
        return None

    def attributes(self, function: str, views: list[View], roles: list[str]) -> None:
        """Set the roles of values whose type an attribute enum in the same call states."""
        typed = [v for v in views if v.base in self.decisions.attribute_enums]
        shared = [v for v in views if v.stars == 0 and v.base in self.decisions.export_enums]
        sets = bool(re.search(r"Set[A-Z]", function))
        for i, view in enumerate(views):
            if view.base != "void":
                continue
            # an attribute and a value, or a list of each
            attribute = next((v for v in typed if v.stars == view.stars - 1), None)
            if attribute and view.name in ("value", "data"):
                word = "attrlist" if view.stars == 2 else "attr"
                roles[i] = f"{'' if sets else 'out '}{word}[{attribute.name}]"
                if (
                    view.stars == 1
                    and i + 1 < len(views)
                    and split_type(views[i + 1].spelling) == ("size_t", 1)
                ):
                    roles[i + 1] = "attrsize"
            elif shared and view.stars == 1 and "Export" in function:
                roles[i] = f"out attr[{shared[0].name}]"
            elif view.stars == 2 and re.search(r"ptions?Values$", view.name):
                roles[i] = f"attrlist[{views[i - 1].name}]"


def type_kinds(facts: Facts, decisions: Decisions) -> dict[str, str]:
    """Map type names to void, char, scalar, handle, enum, struct, callback or function."""
    words = {"opaque": "handle", "number": "scalar"}
    kinds = {"void": "void", **dict.fromkeys(SCALARS, "scalar")}
    for item in facts.types:
        if isinstance(item, FactEnum):
            kinds[item.tag] = "enum"
        elif isinstance(item, FactRecord):
            kinds[item.tag] = "struct"
        elif isinstance(item, FactTypedef):
            word = kinds[item.target] if item.word == "define" else item.word
            kinds[item.name] = words.get(word, word)
    kinds.update({n: "handle" for n in decisions.identity_integers if kinds.get(n) == "scalar"})
    return kinds


def opaque_handles(facts: Facts) -> dict[tuple[str, int], tuple[str, int]]:
    """Map (struct name, stars) to (handle name, stars).

    `struct cudaGraphicsResource **` is a `cudaGraphicsResource_t *`, which has a class.
    """
    handles: dict[tuple[str, int], tuple[str, int]] = {}
    for item in facts.types:
        if isinstance(item, FactTypedef) and item.word == "opaque" and "void" not in item.target:
            base, stars = split_type(item.target)
            handles.setdefault((base, stars + 1), (item.name, 1))
    return handles


def split_type(spelling: str) -> tuple[str, int]:
    """Split a type into base name and stars: `const CUgraphNode *const *` is (`CUgraphNode`, 2)."""
    bare = re.sub(r"\b(const|struct|enum|union)\b", "", spelling)
    stars = bare.count("*") + bare.count("[")
    return " ".join(re.sub(r"\[\d*\]|\*", " ", bare).split()), stars


def describe(comment: str) -> dict[str, tuple[str, str]]:
    """Map the parameters in a doxygen comment to (direction, text)."""
    text = re.sub(r"(?m)^\s*/?\*+/? ?", "", comment)
    params = {}
    for match in PARAM.finditer(text):
        for name in match.group(2).split(","):
            params[name.strip()] = (match.group(1) or "", " ".join(match.group(3).split()))
    return params


def capacity_index(views: list[View]) -> int | None:
    """Return the index of a `size_t *numX` for output arrays: input capacity and output count."""
    indices = [
        i
        for i, v in enumerate(views)
        if v.stars == 1
        and v.base == "size_t"
        and not v.is_const
        and re.match(r"p?[nN]um[A-Z]", v.name)
        and not v.name.endswith("_out")
    ]
    return indices[-1] if indices else None


def count_groups(views: list[View]) -> dict[int, int]:
    """Map array parameters to their count, which follows or precedes a run of arrays."""
    groups: dict[int, int] = {}
    for count, view in enumerate(views):
        if not view.is_counter or any(v.name.endswith("ArrayDesc") for v in views[:count]):
            continue
        members = run_before(views, groups, count)
        if not members:
            members = run_after(views, count)
        groups.update(dict.fromkeys(members, count))
    return groups


def run_before(views: list[View], groups: dict[int, int], count: int) -> list[int]:
    run = []
    for i in range(count - 1, -1, -1):
        view = views[i]
        first_output = i == 0 and view.kind == "handle" and re.match(r"ph?[A-Z]", view.name)
        descriptor = view.kind == "struct" and view.name.endswith("Desc")
        if not view.is_array_pointer or i in groups or first_output or descriptor:
            break
        run.append(i)
    if (
        run == [0]
        and views[0].kind == "handle"
        and not views[0].is_const
        and not views[0].name.endswith("s")
    ):
        return []
    return [i for i in run if not is_count_output(views[i])]


def is_count_output(view: View) -> bool:
    is_number = view.kind == "scalar" and view.stars == 1 and not view.is_const
    is_named = re.match(r"p?([nN]um|CudaDeviceCount)", view.name)
    return bool(is_number and is_named) or view.name.endswith("Count")


def run_after(views: list[View], count: int) -> list[int]:
    run = []
    for i in range(count + 1, len(views)):
        view = views[i]
        if not view.is_array_pointer or (view.is_returned and view.kind == "handle"):
            break
        run.append(i)
    return run


def callbacks(views: list[View], roles: list[str]) -> None:
    for i, view in enumerate(views[:-1]):
        if view.kind == "callback" and view.stars == 0 and views[i + 1].name == "userData":
            roles[i : i + 2] = ["callback", "callback_data"]
