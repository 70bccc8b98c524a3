# SPDX-License-Identifier: Apache-2.0
"""The wheel of this tree, built once from the existing objects, and an installation of it."""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from build_support import headers
from generator import libraries

ROOT = Path(__file__).resolve().parents[2]
# Dependencies of saxpy beside the wheel.
RECORDS = ("cuda_pathfinder", "pytest", "pluggy")  # their metadata is queried
BORROWED = ("numpy", "numpy.libs", "nvidia", "cuda/pathfinder")


def need_build_tools():
    for module in ("Cython", "setuptools", "pip"):
        # searched, not imported: setuptools refuses if another distutils was imported first
        if not importlib.util.find_spec(module):
            pytest.skip(f"a build needs {module}")
    if not headers.find(libraries.load("driver").facts.version):
        pytest.skip("a build needs the CUDA headers")
    if not shutil.which(os.environ.get("CXX", "g++").split()[-1]):
        pytest.skip("a build needs a C++ compiler")


def run(*command, **options):
    """Return its stdout; fail the test with its output if the command fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Installation:
    """A folder with `cuda.bindings` and `cuda.core`, and an interpreter that imports them."""

    python: Path
    packages: Path

    def run(self, *arguments, **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        env |= {"HALFWARP_BACKEND": "emulator", **environment}
        return run(self.python, *arguments, cwd="/", env=env)

    def pip(self, *arguments):
        """Uses the pip of this interpreter: the environment has none."""
        options = ["--disable-pip-version-check", "--no-input", "--python", self.python]
        return run(sys.executable, "-m", "pip", *options, *arguments)

    def install(self, *wheels):
        self.pip("install", "--no-deps", "--no-index", "--quiet", *wheels)

    def uninstall(self, *names):
        self.pip("uninstall", "-y", "--quiet", *names)

    def borrow(self, known, *names):
        """Link to packages in the folder of a known package of this interpreter."""
        source = Path(importlib.util.find_spec(known).origin).parents[1]
        infos = [path.name for each in RECORDS for path in source.glob(f"{each}-*.dist-info")]
        for name in (*names, *infos):
            target = self.packages / name
            if (source / name).exists() and not target.exists():
                target.parent.mkdir(exist_ok=True)
                target.symlink_to(source / name)


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
    """Install the wheel in a fresh virtual environment, with links to its few dependencies."""
    installation = make_environment(tmp_path_factory.mktemp("venv"))
    installation.install(wheel)
    installation.borrow("numpy", *BORROWED)
    return installation


def make_environment(folder):
    """Create an empty virtual environment."""
    venv.create(folder, symlinks=True, with_pip=False)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return Installation(folder / "bin" / "python", folder / "lib" / version / "site-packages")


@pytest.fixture(scope="session")
def in_tree():
    return Installation(Path(sys.executable), ROOT)
