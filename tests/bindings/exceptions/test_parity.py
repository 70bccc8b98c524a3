# SPDX-License-Identifier: Apache-2.0
"""The raising modules equal the reference: names, C types, results, values."""

import enum
import inspect

import pytest

from generator.emit.cimport import function_pxd

from ..parity.suite import CapsuleSuite, ModuleSuite


class TestModule(ModuleSuite):
    pass


class TestCapsules(CapsuleSuite):
    pass


@pytest.fixture
def functions(library):
    return {f.python_name: f for f in library.functions if f.in_python}


def test_the_same_functions_exist(reference, module):
    # unwrapped: on a real machine, tests that would change its settings are refused
    members = inspect.getmembers(module)
    public = {n for n, v in members if inspect.isbuiltin(inspect.unwrap(v))}
    public = {n for n in public if not n.startswith("_")}
    assert public ^ reference.functions.keys() == set()


def spelled(library, function, parameter):
    """Spell a parameter of the reference like ours: structs are objects as well as addresses."""
    c_type, _, name = parameter.rpartition(" ")
    structs = {p.name for p in function.params if p.words.startswith(("in:data:", "in:object:"))}
    if name in structs:
        return name
    if c_type in {e.c_name for e in library.enums}:
        return f"int {name}"
    return f"unsigned int {name}" if c_type == "unsigned" else parameter


def test_every_parameter_has_the_same_name_and_c_type(reference, library, functions):
    different = {}
    for name, f in functions.items():
        actual = function_pxd.arguments(library, f)
        record = [spelled(library, f, p) for p in reference.functions[name]["py"]]
        expected = reference.deviation("parameters", name, record)
        if actual != expected:
            different[name] = (actual, expected)
    assert different == {}


def test_every_signature_is_exact(reference, module):
    different = {}
    for name, record in reference.functions.items():
        parameters = inspect.signature(getattr(module, name)).parameters.values()
        expected = [p.split()[-1] for p in reference.deviation("signatures", name, record["py"])]
        if [str(p) for p in parameters] != expected:
            different[name] = [str(p) for p in parameters]
        assert {p.kind for p in parameters} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}, name
    assert different == {}


def shape(library, function):
    """Describe the result in the reference's notation."""
    if len(function.returns) > 1:
        return f"tuple({', '.join(function.returns)})"
    if not function.returns and not function.result:
        return "None"
    return function_pxd.return_type(library, function) or function_pxd.result_class(
        library, function
    )


def test_every_result_has_the_same_shape(reference, library, functions):
    different = {}
    for name, f in functions.items():
        expected = reference.deviation("results", name, reference.functions[name]["ret"])
        if shape(library, f) != expected:
            different[name] = (shape(library, f), expected)
    assert different == {}


def test_every_function_calls_the_same_symbol(reference, functions):
    different = {
        name: (functions[name].c_name, record["c"])
        for name, record in reference.base["functions"].items()
        if record["c"] and functions[name].c_name != record["c"]
    }
    assert different == {}


def test_the_same_enumerations_exist(reference, module):
    from cuda.bindings._internal._fast_enum import FastEnumMetaclass

    dir(module)  # creates the lazily created names
    metaclass = enum.EnumMeta if module.__name__.endswith(".cudla") else FastEnumMetaclass
    actual = {n for n, v in inspect.getmembers(module) if isinstance(v, metaclass)}
    assert actual ^ (reference.enums.keys() | reference.aliases) == set()


def test_the_same_exceptions_exist(reference, module):
    dir(module)
    actual = {
        name: [b.__name__ for b in value.__mro__[1:-2]]
        for name, value in inspect.getmembers(module)
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert actual == {
        n: reference.deviation("exceptions", n, bases) for n, bases in reference.exceptions.items()
    }
