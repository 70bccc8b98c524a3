# SPDX-License-Identifier: Apache-2.0
"""The capsules of the cy* modules carry the strings that clients compare, byte for byte."""

import ctypes
import importlib

import pytest


@pytest.fixture
def capsules(reference):
    """Name -> signature string, as a cimporting module finds them."""
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    module = importlib.import_module(f"cuda.bindings.cy{reference.library}")
    return {name: get_name(value).decode() for name, value in module.__pyx_capi__.items()}


def test_every_function_has_a_capsule_and_nothing_else_has(reference, capsules):
    assert capsules.keys() ^ reference.capsules.keys() == set()


def test_every_signature_string_is_identical(reference, capsules):
    assert {n: s for n, s in capsules.items() if s != reference.capsules[n]} == {}


def test_the_model_predicts_what_cython_writes(library, capsules):
    assert {f.name: f.signature for f in library.functions} == capsules
