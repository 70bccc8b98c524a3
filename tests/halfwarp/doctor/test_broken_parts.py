# SPDX-License-Identifier: Apache-2.0
"""The doctor in a tree with broken parts: it always ends with a report."""

import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import cuda.bindings
import pytest

SUFFIX = EXTENSION_SUFFIXES[0]


@pytest.fixture
def tree(tmp_path):
    """Copy the installed packages: Python files and links to compiled files."""
    source = Path(cuda.bindings.__path__[0]).parent
    skipped = shutil.ignore_patterns("*.c", "*.cpp", "_include", "__pycache__")
    for name in ("cuda", "halfwarp"):
        destination = source.with_name(name)
        shutil.copytree(destination, tmp_path / name, ignore=skipped, copy_function=link)
    return tmp_path / "cuda"


def link(source, target):
    if source.endswith(".so"):
        Path(target).symlink_to(source)
    else:
        shutil.copy(source, target)


@pytest.fixture
def doctor(tree):
    """Run it in the tree; return its record, status and stderr."""

    unset = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}

    def run(**environment):
        return subprocess.run(
            [sys.executable, "-m", "halfwarp", "doctor", "--json"],
            cwd=tree.parent,
            env={**unset, "HALFWARP_BACKEND": "emulator", **environment},
            capture_output=True,
            text=True,
        )

    return run


def problems_of(done):
    report = json.loads(done.stdout)
    assert report["is_healthy"] == (not report["problems"])
    assert done.returncode == (0 if report["is_healthy"] else 1), done.stderr
    assert all(each["remedy"] for each in report["problems"] + report["warnings"])
    return [f"{each['probe']}: {each['what']}" for each in report["problems"]]


def test_a_whole_tree_has_no_problem(doctor):
    assert problems_of(doctor()) == []


@pytest.mark.parametrize("module", ["bindings/_low", "core/_core"])
def test_a_missing_compiled_module(doctor, tree, module):
    (tree / f"{module}{SUFFIX}").unlink()
    problems = problems_of(doctor())
    name = f"cuda.{module.replace('/', '.')}"
    assert any(each.startswith("files: compiled modules") and name in each for each in problems)


def test_a_compiled_module_that_is_no_library(doctor, tree):
    path = tree / f"bindings/_low{SUFFIX}"
    path.unlink()
    path.write_text("nothing of the kind")
    assert any("cuda.bindings._low: ImportError" in each for each in problems_of(doctor()))


def test_a_python_file_that_does_not_compile(doctor, tree):
    (tree / "bindings/driver.py").write_text("def (:\n")
    problems = problems_of(doctor())
    assert any(each.startswith("driver: the examination of 'driver' failed") for each in problems)


def test_a_part_that_crashes(doctor, tree):
    (tree / "bindings/nvrtc.py").write_text("import os; os.kill(os.getpid(), 11)\n")
    assert "libraries:nvrtc: the examination of 'libraries:nvrtc' ended with signal 11" in (
        problems_of(doctor())
    )


def test_a_missing_emulator(doctor, tree):
    (tree / "bindings/libcuda_emulated.so").unlink()
    (problem,) = problems_of(doctor())
    assert "needs the emulator of the CUDA driver" in problem


def test_an_invalid_setting(doctor):
    done = doctor(HALFWARP_BACKEND="cpu")
    assert any("HALFWARP_BACKEND='cpu' is not understood" in each for each in problems_of(done))
    (warning,) = json.loads(done.stdout)["warnings"]
    assert warning["what"] == "HALFWARP_BACKEND='cpu': it may be driver, emulator, auto"


def test_no_library_of_the_toolkit(doctor, tree):
    """A pathfinder that finds nothing, as on a machine without the toolkit."""
    (tree / "pathfinder").mkdir()
    (tree / "pathfinder/__init__.py").write_text(
        "class DynamicLibNotFoundError(RuntimeError): ...\n"
        "def load_nvidia_dynamic_lib(name):\n"
        "    raise DynamicLibNotFoundError(f'no {name}; listdir(\"/nowhere/lib\"):')\n"
    )
    done = doctor()
    assert problems_of(done) == []
    report = json.loads(done.stdout)
    assert {each["probe"] for each in report["warnings"]} == {
        "libraries:nvrtc",
        "libraries:nvJitLink",
        "libraries:nvvm",
    }
    assert not any(library["is_found"] for library in report["facts"]["libraries"].values())
    assert report["facts"]["libraries"]["nvrtc"]["searched"][0] == "/nowhere/lib"
