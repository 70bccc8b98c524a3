# SPDX-License-Identifier: Apache-2.0
"""Rules for equal results."""

import array
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def load(name):
    """Load a module of this folder, which the run finds by its path."""
    spec = importlib.util.spec_from_file_location(f"differential_{name}", FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare, encoding = load("compare"), load("encoding")
UNKNOWN = ["Policy", "UNKNOWN_0"]
NO_MEMBER = ["raises", "ValueError", ["ValueError", "Exception"], None]


def test_arrays_are_compared_by_contents():
    numpy = pytest.importorskip("numpy")
    encoded = encoding.encode(memoryview(array.array("I", [1, 2])))
    assert encoded == ["array", "int32", [2], [["int", 1], ["int", 2]]]
    assert encoding.encode(numpy.array([1, 2], "uint32")) == encoded
    assert encoding.encode(numpy.array([[1, 1], [2, 1]], "uint32")[:, 0]) == encoded
    assert encoding.encode(numpy.array([1, 3], "uint32")) != encoded
    assert encoding.encode(numpy.array([1, 2], "uint64")) != encoded
    assert encoding.encode(numpy.zeros(0)) == encoding.encode(memoryview(array.array("I")))


def test_structs_of_numpy_are_compared_by_column():
    numpy = pytest.importorskip("numpy")
    theirs = encoding.encode(numpy.rec.array([(1, 2)], dtype=[("a", "i4"), ("b", "u2")]))
    columns = {
        "a": ["array", "int32", [1], [["int", 1]]],
        "b": ["array", "int16", [1], [["int", 2]]],
    }
    assert compare.alike(theirs, ["Pair", columns])
    assert not compare.alike(theirs, ["Pair", columns | {"b": columns["a"]}])
    assert not compare.alike(theirs, ["Pair", {"a": columns["a"]}])


def test_an_unused_union_member_may_differ():
    assert compare.alike(["Value", {"policy": NO_MEMBER}], ["Value", {"policy": UNKNOWN}])
    assert not compare.alike(["Value", {"policy": NO_MEMBER}], ["Value", {"policy": ["int", 0]}])
    assert not compare.alike(NO_MEMBER, UNKNOWN)


def test_a_value_that_changes_between_two_runs_may_be_anything():
    pattern = compare.steady(
        ["tuple", [["int", 1], ["int", 7]]], ["tuple", [["int", 1], ["int", 8]]]
    )
    assert compare.alike(pattern, ["tuple", [["int", 1], ["int", 9]]])
    assert not compare.alike(pattern, ["tuple", [["int", 2], ["int", 7]]])
