# SPDX-License-Identifier: Apache-2.0
"""Nothing public of cuda.core 1.2.2 is absent: names, members, parameters, values.

What ours has beside is no difference: further names, parameters with a default, a keyword that may
be given by position.
"""

import importlib
import json
from pathlib import Path

import pytest

from tests.data import record_surface

RECORDED = Path(record_surface.__file__).with_name("core_surface_1.2.2.json")
REFERENCE = json.loads(RECORDED.read_text())
# What may come without its parameters: it only refuses to be called.
UNTOLD = {("cuda.core.texture", "ResourceDescriptor")}
OF_THE_BINDINGS = [
    *("cudla", "cufile", "driver", "nvfatbin", "nvjitlink", "nvml", "nvrtc", "nvvm", "runtime"),
    *(
        "cycudla",
        "cycufile",
        "cydriver",
        "cynvfatbin",
        "cynvjitlink",
        "cynvml",
        "cynvrtc",
        "cynvvm",
    ),
    *("cyruntime", "utils"),
]


class Parameter:
    def __init__(self, place, text):
        self.place = place
        self.is_keyword_only = text.startswith("kw ")
        self.has_default = text.endswith("=")
        self.name = text.removeprefix("kw ").rstrip("=")


def parameters(listed):
    made = [Parameter(place, text) for place, text in enumerate(listed)]
    return {each.name: each for each in made}


def refusals(theirs, ours):
    """Calls that the reference takes and ours would not."""
    wanted, found = parameters(theirs), parameters(ours)
    for name, each in wanted.items():
        if name.startswith("*"):
            continue
        if name not in found:
            yield f"no {name}"
        elif each.has_default and not found[name].has_default:
            yield f"{name} must be given"
        elif not each.is_keyword_only and found[name].is_keyword_only:
            yield f"{name} only by keyword"
        elif not each.is_keyword_only and each.place != found[name].place:
            yield f"{name} at another place"
    for name, each in found.items():
        if name not in wanted and not each.has_default and not name.startswith("*"):
            yield f"{name} must be given, too"


def differences(module, name, theirs, ours):
    what = f"{module}.{name}"
    for member, value in theirs.get("values", {}).items():
        if ours.get("values", {}).get(member) != value:
            yield f"{what}.{member} is not {value}"
    for member, listed in theirs.get("members", {}).items():
        if member not in ours.get("members", {}):
            yield f"no {what}.{member}"
        elif listed is not None:
            found = ours["members"][member]
            yield from (f"{what}.{member}: {each}" for each in refusals(listed, found))
    if theirs.get("parameters") is not None and (module, name) not in UNTOLD:
        yield from (
            f"{what}: {each}" for each in refusals(theirs["parameters"], ours["parameters"])
        )


@pytest.mark.parametrize("module", REFERENCE)
def test_nothing_public_is_absent(module):
    ours = record_surface.surface(module)
    found = [f"no {module}.{name}" for name in REFERENCE[module] if name not in ours]
    for name, theirs in REFERENCE[module].items():
        found += differences(module, name, theirs, ours.get(name, {})) if name in ours else []
    assert found == []


def test_the_record_is_of_all_of_it():
    assert list(REFERENCE) == [
        "cuda.core",
        "cuda.core.checkpoint",
        "cuda.core.graph",
        "cuda.core.system",
        "cuda.core.system.exceptions",
        "cuda.core.system.typing",
        "cuda.core.texture",
        "cuda.core.typing",
        "cuda.core.utils",
    ]
    classes = [row for names in REFERENCE.values() for row in names.values()]
    assert sum(len(row.get("members", ())) for row in classes) > 1000
    assert sum(len(row.get("values", ())) for row in classes) > 150


@pytest.mark.parametrize("name", OF_THE_BINDINGS)
def test_the_bindings_have_their_public_modules(name):
    """What is in them: ``tests/bindings/parity``."""
    module = importlib.import_module(f"cuda.bindings.{name}")
    assert module.__name__ == f"cuda.bindings.{name}"
