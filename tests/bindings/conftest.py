# SPDX-License-Identifier: Apache-2.0
"""Fixtures for each `reference`, and Python functions in place of C functions."""

import ctypes
import importlib
import shutil
import subprocess

import pytest

from ..libraries import is_installed
from .function_tables import Replacements


# Not of session scope: each folder has a `reference` of its own.
@pytest.fixture
def library(reference):
    """The generator's model of the same library."""
    from generator import libraries

    return libraries.load(reference.library)


@pytest.fixture
def module(reference):
    return importlib.import_module(f"cuda.bindings.{reference.library}")


@pytest.fixture
def capsules(reference):
    """Map each name to its signature string, as a cimporting module finds it."""
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    module = importlib.import_module(f"cuda.bindings.cy{reference.library}")
    return {name: get_name(value).decode() for name, value in module.__pyx_capi__.items()}


@pytest.fixture(scope="session")
def open_libraries():
    """Fill the function tables of all libraries of this machine."""
    from generator import libraries

    return [name for name in libraries.library_names() if is_installed(name)]


@pytest.fixture
def replacements(open_libraries):
    """Replace slots until the end of the test. All libraries are open already: otherwise the
    first call would fill a table and overwrite the replacements."""
    installed = Replacements()
    yield installed
    installed.undo()


@pytest.fixture
def put(replacements):
    """``put(name, function, *ctypes)``: replace a C function by a Python function."""
    return replacements.put


@pytest.fixture
def put_address(replacements):
    """``put_address(name, address)``: replace a C function by another C function."""
    return replacements.put_address


@pytest.fixture
def small_driver(tmp_path):
    """``small_driver(...)``: a folder with a driver of three functions, whose results are
    arguments."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler to make a driver with")

    def build(version=13000, status=0, devices=1, further=""):
        source = tmp_path / "driver.c"
        source.write_text(
            f"{further}\n"
            f"int cuInit(unsigned flags) {{ return {status}; }}"
            f"int cuDeviceGetCount(int* n) {{ *n = {devices}; return 0; }}"
            f"int cuDriverGetVersion(int* v) {{ *v = {version}; return 0; }}"
        )
        library = tmp_path / "libcuda.so.1"
        subprocess.run([compiler, "-shared", "-fPIC", "-w", source, "-o", library], check=True)
        return tmp_path

    return build
