# SPDX-License-Identifier: Apache-2.0
"""The reference's API as data, 13.3 with the changes of 13.5, for the parity tests."""

import json
import re
import tomllib
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"
NOTHING = {"functions": {}, "classes": {}, "enums": {}, "constants": {}}  # a library new in 13.5


def data(file):
    return json.loads((DATA / file).read_text())


class Reference:
    """API of one library of the reference; subclasses read the functions."""

    def __init__(self, library):
        later = data("reference_13.5.json")[library]
        self.library = library
        self.base = data("reference_13.3.json").get(library, NOTHING)
        self.changes = later["names"]
        self.deviations = tomllib.loads((DATA / "parity_exceptions.toml").read_text())
        self.functions = dict(self.base["functions"])
        self.classes = {n: self.later_class(n, c) for n, c in self.base["classes"].items()}
        for name, record in self.of_kind("function"):
            self.functions[name] = self.later_function(record, self.base["functions"].get(name))
        self.capsules = self.base_capsules() | {n: r["sig"] for n, r in later["capsules"].items()}
        enums = {**self.base["enums"], **dict(self.of_kind("enum"))}
        self.enums = {name: self.enum(name) for name in enums}
        constants = dict(self.base["constants"])
        constants |= {n: int(r["value"]) for n, r in self.of_kind("value") if is_number(r)}
        self.constants = {n: self.deviation("constants", n, v) for n, v in constants.items()}

    def later_class(self, name, record):
        """Return a class of 13.3, whose base may differ in 13.5."""
        base = self.changes.get(name, {}).get("base") or record.get("base", "object")
        fields = {k: v for k, v in record.items() if k != "base"}
        return fields if base == "object" else fields | {"base": base}

    def later_function(self, record, before):
        """Return a record of 13.5 in the form of 13.3; `before` is None for a new function."""
        raise NotImplementedError

    def base_capsules(self):
        """Map each name to its signature string, in 13.3."""
        raise NotImplementedError

    def of_kind(self, kind):
        return [(n, r) for n, r in self.changes.items() if r["kind"] == kind]

    def enum(self, name):
        members = dict(self.base["enums"].get(name, {}))
        change = self.changes.get(name, {})
        members |= change.get("members", {}) | change.get("added_members", {})
        members |= {n: new for n, (_, new) in change.get("changed_values", {}).items()}
        retained = {n: v for n, v in members.items() if n not in change.get("removed_members", ())}
        return retained | self.deviation("members", name, {})

    def deviation(self, table, name, otherwise=None):
        """Return a deliberate deviation: a row of `parity_exceptions.toml`."""
        return self.deviations.get(table, {}).get(self.library, {}).get(name, otherwise)


def is_number(record):
    return re.fullmatch(r"-?\d+", str(record["value"])) is not None
