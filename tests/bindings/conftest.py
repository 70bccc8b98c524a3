# SPDX-License-Identifier: Apache-2.0
"""The reference's API as data, 13.3 with what 13.5 changed, for the parity tests."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"


class Reference:
    """What one library of the reference offers."""

    def __init__(self, library):
        base = json.loads((DATA / "reference_13.3.json").read_text())[library]
        later = json.loads((DATA / "reference_13.5.json").read_text())[library]
        self.library = library
        self.base = base
        self.changes = later["names"]
        self.exceptions = tomllib.loads((DATA / "parity_exceptions.toml").read_text())
        self.functions = dict(base["functions"])
        self.functions |= {n: later_function(r) for n, r in self.of_kind("function")}
        self.capsules = {n: f["sig"] for n, f in base["functions"].items()}
        self.capsules |= {n: r["sig"] for n, r in later["capsules"].items()}
        self.enums = {n: self.enum(n) for n in [*base["enums"], *dict(self.of_kind("enum"))]}
        self.constants = dict(base["constants"])
        self.constants |= {n: int(r["value"]) for n, r in self.of_kind("value")}

    @property
    def dropped_fields(self):
        return self.exception("dropped", "fields", ())

    def of_kind(self, kind):
        return [(n, r) for n, r in self.changes.items() if r["kind"] == kind]

    def enum(self, name):
        members = dict(self.base["enums"].get(name, {}))
        change = self.changes.get(name, {})
        members |= change.get("members", {}) | change.get("added_members", {})
        members |= {n: new for n, (_, new) in change.get("changed_values", {}).items()}
        return {n: v for n, v in members.items() if n not in change.get("removed_members", ())}

    def exception(self, table, name, otherwise=None):
        return self.exceptions.get(table, {}).get(self.library, {}).get(name, otherwise)


def later_function(record):
    """A record of 13.5, in the form of those of 13.3."""
    arguments = ast.parse(f"def f{record['sig']}: ...").body[0].args
    names = [a.arg for a in arguments.args]
    defaults = [f"={ast.unparse(d)}" for d in arguments.defaults]
    suffixes = [""] * (len(names) - len(defaults)) + defaults
    return {
        "py": [n + s for n, s in zip(names, suffixes, strict=True)],
        "ret": [re.match(r"\w+", r).group() for r in record["returns"]],
    }


@pytest.fixture(scope="session", params=["driver", "nvrtc", "runtime"])
def reference(request):
    return Reference(request.param)


@pytest.fixture(scope="session")
def library(reference):
    """The generator's model of the same library."""
    from generator import model

    return model.load(reference.library)
