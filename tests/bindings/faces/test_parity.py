# SPDX-License-Identifier: Apache-2.0
"""The modules below `cuda.bindings._v2` equal the reference: names, signatures, layouts."""

import importlib
import inspect
import json
import re
import tomllib
from pathlib import Path

import pytest

from generator import libraries
from generator.emit.cimport import function_pxd

DATA = Path(__file__).parents[2] / "data"
REFERENCE = json.loads((DATA / "reference_v2_13.5.json").read_text())
DEVIATIONS = tomllib.loads((DATA / "parity_exceptions.toml").read_text())
# attributes of every struct class besides its fields
METHODS = {"asdict", "copy", "from_buffer", "from_data", "from_ptr", "ptr"}
NAMED_RESULTS = ("bytes", "list", "str", "tuple")  # the reference has these for all objects


@pytest.fixture(scope="module", params=REFERENCE)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def reference(name):
    return REFERENCE[name]


@pytest.fixture(scope="module")
def library(name):
    return libraries.load(f"v2_{name}")


@pytest.fixture(scope="module")
def module(library):
    built = importlib.import_module(f"{library.package}.{library.module}")
    dir(built)  # creates the lazily created names
    return built


@pytest.fixture(scope="module")
def functions(library):
    shown = [f for f in library.functions if f.in_python]
    return {name: f for f in shown for name in (f.python_name, *f.aliases)}


def deviation(table, library, name, otherwise):
    """Return a deliberate deviation: a row of `parity_exceptions.toml`."""
    return DEVIATIONS.get(table, {}).get(library, {}).get(name, otherwise)


def private_helpers(library):
    return set(deviation("classes", library, "names", ()))


def result(library, function):
    """Return the result where the reference states it: numbers by their C type."""
    if len(function.returns) > 1:
        return "tuple"
    if number := function_pxd.return_type(library, function):
        return number
    if not function.returns_code:
        return "int"
    result_name = function_pxd.result_class(library, function).replace("builtins.", "")
    result_name = result_name.partition("[")[0]
    return result_name if result_name in NAMED_RESULTS else ""


def line(library, function):
    """Return `device_get(int ordinal) -> int`, the first line of the reference's documentation."""
    rendered = ", ".join(function_pxd.arguments(library, function))
    returned = result(library, function) if function.returns else ""
    return f"{function.python_name}({rendered}){f' -> {returned}' if returned else ''}"


def test_the_same_functions_exist(reference, module, functions):
    assert reference["functions"].keys() ^ functions.keys() == set()
    built = {n for n in dir(module) if inspect.isbuiltin(getattr(module, n)) and n[0] != "_"}
    assert reference["functions"].keys() ^ built == set()


def test_every_signature_has_the_same_names_types_and_result(reference, library, functions):
    different = {}
    for name, text in reference["functions"].items():
        expected = deviation("signatures", library.name, name, text)
        if line(library, functions[name]) != expected:
            different[name] = (line(library, functions[name]), expected)
    assert different == {}


def test_every_function_accepts_its_parameters_by_name_and_position(reference, library, module):
    different = {}
    for name, text in reference["functions"].items():
        inner = re.search(r"\((.*?)\)", text)[1]
        expected = [each.split()[-1] for each in inner.split(", ") if each]
        parameters = inspect.signature(getattr(module, name)).parameters.values()
        if [str(each).replace(" ", "") for each in parameters] != expected:
            different[name] = ([str(p) for p in parameters], expected)
        assert {p.kind for p in parameters} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}, name
    assert different == {}


def test_every_enumeration_has_its_members_with_their_values(reference, module):
    actual = {
        name: {n: int(m) for n, m in getattr(module, name).__members__.items()}
        for name in reference["enums"]
    }
    assert {n: m for n, m in actual.items() if m != reference["enums"][n]} == {}


def test_every_exception_has_its_base(reference, module):
    actual = {n: getattr(module, n).__bases__[0].__name__ for n in reference["exceptions"]}
    assert actual == reference["exceptions"]


def test_every_failure_code_has_an_exception(library, module):
    codes = next(e for e in library.enums if e.c_name == library.decisions.result_enum).members
    assert {m.c_name for m in codes if m.value} == set(library.exceptions.values())


def test_every_constant_has_its_value(reference, module):
    assert {n: getattr(module, n) for n in reference["constants"]} == reference["constants"]


def test_every_struct_shows_its_fields(reference, library, module):
    different = {}
    for name, fields in reference["data_types"].items():
        if name in private_helpers(library.name):
            continue
        shown = {n for n in dir(getattr(module, name)) if n[0] != "_"} - METHODS
        if shown != set(fields):
            different[name] = shown ^ set(fields)
    assert different == {}


def test_every_numpy_type_has_its_fields_at_their_offsets(reference, library, module):
    pytest.importorskip("numpy", reason="NumPy is not installed")
    different = {}
    for name, layout in reference["dtypes"].items():
        built = getattr(module, name)
        padding = deviation("padding", library.name, name, ())
        fields = {n: [str(t[0]), t[1]] for n, t in built.fields.items() if n not in padding}
        if {"fields": fields, "size": built.itemsize} != layout:
            different[name] = (fields, layout)
    assert different == {}


def test_no_public_name_is_missing_in_the_reference(reference, module):
    known = {name for table in reference.values() for name in table}
    assert {n for n in dir(module) if n[0] != "_"} - known == set()


def test_every_exception_to_parity_is_needed(reference, library, functions):
    needless = []
    for name, text in DEVIATIONS.get("signatures", {}).get(library.name, {}).items():
        if name != "reason" and reference["functions"][name] == text:
            needless.append(name)
    for name in private_helpers(library.name):
        if name not in reference["data_types"]:
            needless.append(name)
    assert needless == []
