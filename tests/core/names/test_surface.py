# SPDX-License-Identifier: Apache-2.0
"""Every public name of cuda.core 1.2.2 exists: names, members, parameters, values.

Additions are allowed: further names, parameters with a default, and keywords that can also be
passed by position.
"""

import importlib
import json
from pathlib import Path

import pytest

from tests.data import record_surface

RECORDED = Path(record_surface.__file__).with_name("core_surface_1.2.2.json")
REFERENCE = json.loads(RECORDED.read_text())
# Classes whose parameters may be missing: calling them only raises.
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
    entries = [Parameter(place, text) for place, text in enumerate(listed)]
    return {each.name: each for each in entries}


def refusals(expected, actual):
    """Return the calls that the reference accepts and halfwarp would not."""
    expected_parameters, actual_parameters = parameters(expected), parameters(actual)
    for name, each in expected_parameters.items():
        if name.startswith("*"):
            continue
        if name not in actual_parameters:
            yield f"no {name}"
        elif each.has_default and not actual_parameters[name].has_default:
            yield f"{name} must be given"
        elif not each.is_keyword_only and actual_parameters[name].is_keyword_only:
            yield f"{name} only by keyword"
        elif not each.is_keyword_only and each.place != actual_parameters[name].place:
            yield f"{name} at another place"
    for name, each in actual_parameters.items():
        if name not in expected_parameters and not each.has_default and not name.startswith("*"):
            yield f"{name} must be given, too"


def differences(module, name, expected, actual):
    path = f"{module}.{name}"
    for member, value in expected.get("values", {}).items():
        if actual.get("values", {}).get(member) != value:
            yield f"{path}.{member} is not {value}"
    for member, listed in expected.get("members", {}).items():
        if member not in actual.get("members", {}):
            yield f"no {path}.{member}"
        elif listed is not None:
            actual_member = actual["members"][member]
            yield from (f"{path}.{member}: {each}" for each in refusals(listed, actual_member))
    if expected.get("parameters") is not None and (module, name) not in UNTOLD:
        yield from (
            f"{path}: {each}" for each in refusals(expected["parameters"], actual["parameters"])
        )


@pytest.mark.parametrize("module", REFERENCE)
def test_nothing_public_is_absent(module):
    actual = record_surface.surface(module)
    missing = [f"no {module}.{name}" for name in REFERENCE[module] if name not in actual]
    for name, expected in REFERENCE[module].items():
        missing += (
            differences(module, name, expected, actual.get(name, {})) if name in actual else []
        )
    assert missing == []


def test_the_record_covers_every_module():
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
    """``tests/bindings/parity`` checks their contents."""
    module = importlib.import_module(f"cuda.bindings.{name}")
    assert module.__name__ == f"cuda.bindings.{name}"
