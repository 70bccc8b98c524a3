# SPDX-License-Identifier: Apache-2.0
"""Members that tables in the sources create at import: properties, and their keywords."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ATTRIBUTE = re.compile(r'\{"(\w+)", CU_DEVICE_ATTRIBUTE_\w+, (integer|boolean)')
DEVICE_KINDS = {"integer": "int", "boolean": "bool"}
# Kind in attributes.pyx -> type that is read, type that is accepted.
LAUNCH_KINDS = {
    "_Choice": ("str | int", "str | SupportsIndex"),
    "_Domains": ("tuple[int, int]", "Sequence[SupportsIndex]"),
    "_Extents": ("tuple[int, int, int]", "_Extent"),
    "_Flag": ("bool", "bool"),
    "_Number": ("int", "SupportsIndex"),
    "_Priority": ("int", "SupportsIndex"),
    "_Record": ("Event | tuple[Event, bool]", "Event | tuple[Event, bool]"),
    "_Window": ("AccessPolicyWindow", "AccessPolicyWindow | dict[str, Any]"),
}
OF_LAUNCHES = "OF_LAUNCHES"


def device_properties(root: Path) -> list[str]:
    text = (root / "cpp/core/device_attributes.cpp").read_text("utf-8")
    return [
        f"@property\ndef {name}(self) -> {DEVICE_KINDS[kind]}: ..."
        for name, kind in ATTRIBUTE.findall(text)
    ]


def kernel_attributes(text: str) -> list[str]:
    members = []
    for name, row in table(text, "KERNEL_ATTRIBUTES"):
        _, is_boolean, is_settable, doc = (getattr(part, "value", None) for part in row)
        kind = "bool" if is_boolean else "int"
        members.append(getter(name, "bool" if is_boolean else "AttributeValue", doc))
        if is_settable:
            members.append(setter(name, kind))
    return members


def launch_attributes(text: str) -> list[str]:
    """The properties of LaunchConfig beyond its own fields."""
    members = []
    for name, (read, accepted), doc in further_attributes(text):
        members.append(getter(name, f"{read} | None", f"{doc} None if unset. Host only."))
        members.append(setter(name, f"{accepted} | None"))
    return members


def launch_keywords(text: str) -> str:
    """The properties as parameters of the constructor."""
    rows = further_attributes(text)
    return ", ".join(
        ["*", *(f"{name}: {accepted} | None = ..." for name, (_, accepted), _ in rows)]
    )


def further_attributes(text: str) -> list[tuple[str, tuple[str, str], str]]:
    return [
        (name, LAUNCH_KINDS[row[1].func.id], ast.literal_eval(row[4]))
        for name, row in table(text, "LAUNCH_ATTRIBUTES")[3:]
        if OF_LAUNCHES in ast.unparse(row[3])
    ]


def table(text: str, name: str) -> list[tuple[str, list[ast.expr]]]:
    """The rows of a literal dict of tuples in a source; empty if there is no such dict."""
    match = re.search(rf"^cdef dict {name} = (\{{.*?^\}})", text, re.M | re.S)
    if not match:
        return []
    rows = ast.parse(match[1], mode="eval").body
    return [(key.value, row.elts) for key, row in zip(rows.keys, rows.values, strict=True)]


def getter(name: str, kind: str, doc: str) -> str:
    return f'@property\ndef {name}(self) -> {kind}:\n    """{doc}"""\n    ...'


def setter(name: str, kind: str) -> str:
    return f"@{name}.setter\ndef {name}(self, value: {kind}) -> None: ..."
