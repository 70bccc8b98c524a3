# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's files among ours are reported at import, once, by checking for two folders."""

import shutil
from pathlib import Path

import cuda.bindings
import pytest

FOLDERS = ("core/cu13", "bindings/_lib")
IMPORTS = """
import sys, warnings
sys.path.insert(0, {place!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    exec(compile({statement!r}, "client.py", "exec"))
import cuda.core, cuda.bindings
assert cuda.core.__file__.startswith({place!r}), cuda.core.__file__
print([(w.category.__name__, w.filename) for w in caught])
"""


@pytest.fixture
def place(tmp_path):
    """Copy the Python files of both packages into one folder."""
    source = Path(cuda.bindings.__path__[0]).parent
    for package in ("bindings", "core"):
        shutil.copytree(
            source / package,
            tmp_path / "cuda" / package,
            ignore=shutil.ignore_patterns("*.so", "*.c", "*.cpp", "_include", "__pycache__"),
        )
    return tmp_path


@pytest.fixture
def warnings_at(run_python, place):
    def at(statement):
        return run_python(IMPORTS.format(place=str(place), statement=statement)).strip()

    return at


@pytest.mark.parametrize("statement", ["import cuda.core", "import cuda.bindings"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_each_package_sees_both_folders(warnings_at, place, folder, statement):
    (place / "cuda" / folder).mkdir()
    assert warnings_at(statement) == "[('UserWarning', 'client.py')]"


def test_the_warning_appears_once(warnings_at, place):
    for folder in FOLDERS:
        (place / "cuda" / folder).mkdir()
    statement = "import cuda.core, cuda.bindings; from cuda.core import typing"
    assert warnings_at(statement) == "[('UserWarning', 'client.py')]"


def test_our_own_files_cause_no_warning(warnings_at):
    assert warnings_at("import cuda.core, cuda.bindings") == "[]"


def test_only_the_two_folders_are_checked(run_python):
    """Two look-ups by name for each package, and no metadata."""
    code = """
import os, sys
looked_at = []
def watch(event, arguments):
    if event in ("os.listdir", "os.scandir", "open") and "dist-info" in str(arguments):
        looked_at.append(arguments)
sys.addaudithook(watch)
import cuda.bindings, cuda.core
print(looked_at, "cuda.bindings._internal._mixed_installation" in sys.modules)
"""
    assert run_python(code).strip() == "[] False"
