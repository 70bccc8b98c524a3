# SPDX-License-Identifier: Apache-2.0
"""What belongs to a `reference`; Python functions in the place of C functions."""

import ctypes
import importlib

import pytest

from ..libraries import is_installed
from .function_tables import Replacements


# Not of session scope: each folder has a `reference` of its own.
@pytest.fixture
def library(reference):
    """The generator's model of the same library."""
    from generator import model

    return model.load(reference.library)


@pytest.fixture
def module(reference):
    return importlib.import_module(f"cuda.bindings.{reference.library}")


@pytest.fixture
def capsules(reference):
    """Name -> signature string, as a cimporting module finds them."""
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    module = importlib.import_module(f"cuda.bindings.cy{reference.library}")
    return {name: get_name(value).decode() for name, value in module.__pyx_capi__.items()}


@pytest.fixture(scope="session")
def open_libraries():
    """The tables of all libraries that this machine has are filled."""
    from generator import model

    return [name for name in model.library_names() if is_installed(name)]


@pytest.fixture
def put(open_libraries):
    """``put(name, function, *ctypes)``: calls of the C function go to a Python function.

    All libraries are open: else the first call would fill a table, and put its functions in the
    place of these.
    """
    replacements = Replacements()
    yield replacements.put
    replacements.undo()
