# SPDX-License-Identifier: Apache-2.0
"""The wheel of this tree, built once from the objects that are there, and an installation of it."""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator import headers, model

ROOT = Path(__file__).resolve().parents[2]
BORROWED = ("numpy", "numpy.libs", "nvidia", "cuda/pathfinder")  # what saxpy needs beside the wheel


def need_build_tools():
    for module in ("Cython", "setuptools", "pip"):
        # looked for, not imported: setuptools refuses where another distutils was first
        if not importlib.util.find_spec(module):
            pytest.skip(f"a build needs {module}")
    if not headers.find(model.load("driver").version):
        pytest.skip("a build needs the CUDA headers")
    if not shutil.which(os.environ.get("CXX", "g++").split()[-1]):
        pytest.skip("a build needs a C++ compiler")


def run(*command, **options):
    """Its stdout; the test fails with what the command wrote when it fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Installation:
    """A place where `cuda.bindings` and `cuda.core` are, and the interpreter that sees them."""

    python: Path
    packages: Path

    def run(self, *arguments, **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        env |= {"HALFWARP_BACKEND": "emulator", **environment}
        return run(self.python, *arguments, cwd="/", env=env)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    need_build_tools()
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", folder, ".", cwd=ROOT)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The wheel in a fresh virtual environment, with links to the few packages that it uses."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, symlinks=True, with_pip=False)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    python = folder / "bin" / "python"
    options = ["--no-deps", "--no-index", "--quiet", "--python", python]
    run(sys.executable, "-m", "pip", *options[3:], "install", *options[:3], wheel)
    source = Path(importlib.util.find_spec("numpy").origin).parents[1]
    records = [path.name for path in source.glob("cuda_pathfinder-*.dist-info")]
    for name in (*BORROWED, *records):
        target = packages / name
        if (source / name).exists() and not target.exists():
            target.symlink_to(source / name)
    return Installation(python, packages)


@pytest.fixture(scope="session")
def in_tree():
    return Installation(Path(sys.executable), ROOT)
