# SPDX-License-Identifier: Apache-2.0
"""Each C function that a published compiled package looks up exists with the same signature."""

import ctypes
import importlib
import json
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "client_capsules.json"
CLIENTS = json.loads(DATA.read_text())
NEEDED = [(client, provider) for client, each in CLIENTS.items() for provider in each]

is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes = ctypes.py_object, ctypes.c_char_p
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@pytest.mark.parametrize("client, provider", NEEDED, ids=[" ".join(each) for each in NEEDED])
def test_every_looked_up_function_exists(client, provider):
    offered = importlib.import_module(f"cuda.bindings.{provider}").__pyx_capi__
    expected = CLIENTS[client][provider]
    assert sorted(expected.keys() - offered.keys()) == []
    wrong = {n: s for n, s in expected.items() if not is_valid(offered[n], s.encode())}
    assert wrong == {}
    # Compiled code that reads the pointers itself calls them without checking them.
    assert [n for n, s in expected.items() if not pointer_of(offered[n], s.encode())] == []
