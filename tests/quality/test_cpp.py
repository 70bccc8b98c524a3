# SPDX-License-Identifier: Apache-2.0
"""Configures, builds and runs the C++ tests, which pytest does nowhere else."""

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

FOLDER = Path("build") / "tests"  # kept, so that only changes are compiled again
NO_GTEST = "GoogleTest not found"


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    return done.stdout


@pytest.fixture(scope="module")
def tools():
    """Require a compiler, CMake and the CUDA headers; the message names the missing one."""
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    include = headers.find(libraries.load("driver").facts.version)
    missing = [tool for tool in ("cmake", "ctest", compiler[-1]) if not shutil.which(tool)]
    if missing or not include:
        lack = ", ".join(missing) or "the CUDA headers"
        pytest.skip(f"the C++ tests did not run: {lack} cannot be had")
    return compiler, include


@pytest.fixture(scope="module")
def built(tools, root):
    """Build all of them, from the objects of setup.py if those are current."""
    object_paths = ";".join(map(str, objects(root)))
    return build(tools, root, FOLDER, HALFWARP_TEST_FOLDERS="", HALFWARP_OBJECTS=object_paths)


def build(tools, root, folder, **extra):
    compiler, include = tools
    options = {
        "CMAKE_CXX_COMPILER": shutil.which(compiler[-1]),
        "CMAKE_CXX_COMPILER_LAUNCHER": shutil.which("ccache") or "",
        "HALFWARP_CUDA_INCLUDE": include,
        "HALFWARP_EMULATOR": Path(cuda.bindings.__path__[0]) / "libcuda_emulated.so",
        **extra,
    }
    configure = ["cmake", "-S", root / "cpp" / "tests", "-B", root / folder]
    output = run([*configure, *(f"-D{name}={value}" for name, value in options.items())])
    if NO_GTEST in output:
        pytest.skip("the C++ tests did not run: GoogleTest cannot be had (Debian: libgtest-dev)")
    run(["cmake", "--build", root / folder, f"-j{os.cpu_count()}"])
    return root / folder


def objects(root):
    """Return the objects of the emulators and of cpp/core from setup.py: most of what the tests
    link."""
    compiled = root / "build" / "objects"
    abi = sysconfig.get_config_var("SOABI")
    libraries = ("cuda.bindings.libcuda_emulated", "cuda.bindings.libcudart_emulated")
    folders = (*(compiled / "any" / name for name in libraries), compiled / abi / "cuda.core._core")
    return [folder for folder in folders if folder.exists() and is_current(folder, root)]


def is_current(folder, root):
    """Return whether no object is older than one of our sources."""
    changed = functools.cache(lambda name: os.stat(name).st_mtime if os.path.exists(name) else 0)
    for record in folder.rglob("*.d"):
        object_time = changed(str(record.with_suffix(".o")))
        sources = record.read_text().partition(":")[2].replace("\\\n", " ").split()
        ours = [name for name in sources if name.startswith(str(root / "cpp"))]
        if object_time and any(changed(name) > object_time for name in ours):
            return False
    return True


@pytest.mark.timeout(1800)  # compiles the sources, also on a busy machine with one core
def test_the_cpp_tests_pass(built):
    output = run(["ctest", "--test-dir", built, "--output-on-failure", f"-j{os.cpu_count()}"])
    assert "No tests were found" not in output


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_threads_that_share_a_pool_have_no_data_race(tools, root):
    """Run ThreadSanitizer over cpp/core; the emulator's library below it is not instrumented."""
    options = {"HALFWARP_TEST_FOLDERS": "core_on_driver", "HALFWARP_SANITIZE": "thread"}
    built = build(tools, root, FOLDER.with_name("tests-threads"), **options)
    for _ in range(5):
        output = run(["ctest", "--test-dir", built, "--output-on-failure"])
        assert "100% tests passed" in output
