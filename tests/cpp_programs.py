# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of cpp/tests, which two test files share."""

import fcntl
import functools
import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import cuda.bindings
import pytest

from build_support import headers
from generator import libraries

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "tests"  # kept, so that only changes are compiled again
NO_GTEST = "GoogleTest not found"
# Code under test has the objects of setup.py, which are optimized; the tests need not be.
FAST = {"CMAKE_BUILD_TYPE": "None", "CMAKE_CXX_FLAGS": "-O0 -DNDEBUG"}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    return done.stdout


def configure(folder, **options):
    """Configure a build, and return the output of CMake. Skip the test without its tools.

    The message names the missing tool: a compiler, CMake or the CUDA headers.
    """
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    include = headers.find(libraries.load("driver").facts.version)
    missing = [tool for tool in ("cmake", "ctest", compiler[-1]) if not shutil.which(tool)]
    if missing or not include:
        lack = ", ".join(missing) or "the CUDA headers"
        pytest.skip(f"the C++ tests did not run: {lack} cannot be had")
    options = {
        "CMAKE_CXX_COMPILER": shutil.which(compiler[-1]),
        # ccache keeps no result with precompiled headers, which make a first build faster
        "CMAKE_CXX_COMPILER_LAUNCHER": compiler[0] if len(compiler) > 1 else "",
        "HALFWARP_CUDA_INCLUDE": include,
        "HALFWARP_EMULATOR": Path(cuda.bindings.__path__[0]) / "libcuda_emulated.so",
        **options,
    }
    command = ["cmake", "-S", ROOT / "cpp" / "tests", "-B", folder]
    return run([*command, *(f"-D{name}={value}" for name, value in options.items())])


def build(folder, *targets):
    """Build targets of a configured folder; all of them if none is named."""
    chosen = ["--target", *targets] if targets else []
    run(["cmake", "--build", folder, f"-j{os.cpu_count()}", *chosen])


def build_shared(*targets):
    """Configure and build in `FOLDER`, and return the output of CMake.

    The build uses the objects of setup.py if they are current. It excludes other processes.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        paths = ";".join(map(str, objects()))
        output = configure(FOLDER, HALFWARP_TEST_FOLDERS="", HALFWARP_OBJECTS=paths, **FAST)
        build(FOLDER, *targets)
        return output


def objects():
    """Return the objects of the emulators and of cpp/core from setup.py: most of what the tests
    link."""
    compiled = ROOT / "build" / "objects"
    abi = sysconfig.get_config_var("SOABI")
    libraries = ("cuda.bindings.libcuda_emulated", "cuda.bindings.libcudart_emulated")
    folders = (*(compiled / "any" / name for name in libraries), compiled / abi / "cuda.core._core")
    return [folder for folder in folders if folder.exists() and is_current(folder)]


def is_current(folder):
    """Return whether no object is older than one of our sources."""
    changed = functools.cache(lambda name: os.stat(name).st_mtime if os.path.exists(name) else 0)
    for record in folder.rglob("*.d"):
        object_time = changed(str(record.with_suffix(".o")))
        sources = record.read_text().partition(":")[2].replace("\\\n", " ").split()
        # ccache writes names relative to the folder of the build
        names = [os.path.join(ROOT, name) for name in sources]
        ours = [name for name in names if name.startswith(str(ROOT / "cpp"))]
        if object_time and (not ours or any(changed(name) > object_time for name in ours)):
            return False
    return True
