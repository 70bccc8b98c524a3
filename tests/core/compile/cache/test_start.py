# SPDX-License-Identifier: Apache-2.0
"""The start of a program whose kernel is in a folder imports no module that takes milliseconds."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
before = set(sys.modules)
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import FileStreamProgramCache
device = Device()
device.set_current()
program = Program('extern "C" __global__ void k() {}', "c++", ProgramOptions())
code = program.compile("cubin", cache=FileStreamProgramCache(sys.argv[1]))
launch(device.create_stream(), LaunchConfig(grid=1, block=1), code.get_kernel("k"))
print(*set(sys.modules) - before)
"""
SLOW = {"dataclasses", "enum", "hashlib", "inspect", "re", "tempfile", "threading", "typing"}


def start(folder):
    """Return the modules that a start imports."""
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    variables = os.environ | {"HALFWARP_BACKEND": "emulator"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_a_start_with_a_cached_kernel_imports_no_slow_module(tmp_path):
    assert "tempfile" in start(tmp_path)  # compiles, and writes the entry
    imported = start(tmp_path)
    assert "cuda.core.compile.cache.entry_files" in imported
    if "cuda.pathfinder" in imported:
        pytest.skip("the pathfinder finds NVRTC here, and imports slow modules")
    assert not imported & SLOW
