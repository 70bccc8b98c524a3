# SPDX-License-Identifier: Apache-2.0
"""Builds foreign modules against the .pxd files: as C and as C++, without our headers."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import cuda.bindings
import pytest

from build_support import headers
from generator import libraries

PACKAGES = Path(cuda.bindings.__path__[0]).parent.parent
COMPILER = shlex.split(os.environ.get("CC", "gcc"))


@pytest.fixture(scope="session")
def cuda_headers():
    """Return the folder of the CUDA headers; skip the test without them."""
    folder = headers.find(libraries.load("driver").facts.version)
    if not folder:
        pytest.skip("no CUDA headers")
    return folder


@pytest.fixture(scope="session", params=["c", "c++"])
def build(request, tmp_path_factory):
    """``build("foreign", *includes)``: the built module of that .pyx, with warnings as errors.

    `source` and `packages` name other folders for the .pyx and for the cimported files.
    """
    if not shutil.which(COMPILER[-1]):
        pytest.skip("no C compiler")
    pytest.importorskip("Cython", reason="cimport needs Cython")

    def run(name, *includes, source=Path(__file__).parent, packages=PACKAGES):
        folder = tmp_path_factory.mktemp(name)
        source_file = folder / (f"{name}.c" if request.param == "c" else f"{name}.cpp")
        language = ["--cplus"] if request.param == "c++" else []
        cython = [sys.executable, "-m", "cython", "-I", str(packages), *language]
        cython += ["-X", "freethreading_compatible=True"]  # otherwise importing it enables the GIL
        subprocess.run(
            [*cython, str(source / f"{name}.pyx"), "-o", str(source_file)], check=True, cwd=folder
        )
        target = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        compiler = [*COMPILER, "-x", request.param, "-O1", "-shared", "-fPIC", "-Werror", "-Wall"]
        if includes:  # the headers of CUDA declare deprecated functions
            compiler += ["-Wno-deprecated-declarations"]
        compiler += [f"-I{path}" for path in (sysconfig.get_path("include"), *includes)]
        subprocess.run([*compiler, str(source_file), "-o", str(target)], check=True)
        return target

    return run


@pytest.fixture(scope="session")
def import_built(build):
    """``import_built("foreign", *includes)``: the module itself, imported by path."""

    def run(name, *includes, **places):
        spec = importlib.util.spec_from_file_location(name, build(name, *includes, **places))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return run
