# SPDX-License-Identifier: Apache-2.0
"""The package on the page about Cython modules builds and runs; wrong set-ups are one error."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import cuda.core
import pytest

from build_support import headers

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(cuda.core.__path__[0]).parents[1]
PROGRAM = """
from cuda.core import Device, LegacyPinnedMemoryResource
from fastfill import fill
device = Device()
device.set_current()
stream = device.create_stream()
numbers = LegacyPinnedMemoryResource().allocate(8)
fill(numbers, 7, stream)
stream.sync()
assert bytes(numbers) == bytes([7] * 8)
numbers.close()
try:
    fill(numbers, 7, stream)
except RuntimeError as error:
    print(error)
"""


def test_the_package_becomes_a_wheel_that_runs(tmp_path):
    for tool in ("Cython", "setuptools"):
        # An import of setuptools fails after one of distutils.
        if importlib.util.find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed")
    project, site = tmp_path / "project", tmp_path / "site"
    shutil.copytree(ROOT / "docs/guide/cython", project)
    environment = os.environ | {"PYTHONPATH": str(PACKAGES), "CFLAGS": "-O0 -w"}
    command = [sys.executable, "setup.py", "-q", "bdist_wheel"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = (project / "dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    environment = os.environ | {
        "PYTHONPATH": f"{PACKAGES}:{site}",
        "HALFWARP_BACKEND": "emulator",
    }
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Buffer has been closed\n"), done.stderr


def compiled(folder, text, *flags):
    """Compile a source that includes the header of `capi.pxd`; return the lines of errors."""
    source = folder / "client.cpp"
    source.write_text(f'{text}#include "python/foreign/abi_check.hpp"\n')
    includes = [cuda.core.get_include(), headers.find(), sysconfig.get_path("include")]
    command = [*shlex.split(os.environ.get("CXX", "g++")), "-fsyntax-only", "-w", *flags]
    command += [*(f"-I{folder}" for folder in includes), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "error" in line.split("#")[0]]


def test_wrong_set_ups_are_one_error(tmp_path):
    assert compiled(tmp_path, "", "-std=c++20") == []
    first, end = compiled(tmp_path, "", "-std=c++17")
    assert "need C++20: compile with -std=c++20" in first and "fatal error" in end
    old = "#include <cuda.h>\n#undef CUDA_VERSION\n#define CUDA_VERSION 13000\n"
    first, end = compiled(tmp_path, old, "-std=c++20")
    assert "CUDA 13.5" in first and "fatal error" in end
