# SPDX-License-Identifier: Apache-2.0
"""Lines of programs that nvJitLink links from LTO-IR, which has no marks."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("coverage")
pytest.importorskip("pytest_cov")

KERNEL = """\
extern "C" __device__ int limited(int value);
extern "C" __global__ void kernel(int* x, int n) {
    x[threadIdx.x] = limited(threadIdx.x);
    if (n > 100)
        x[0] = -1;
}
"""
FUNCTION = """\
extern "C" __device__ int limited(int value) {
    return value > 3 ? 3 : value;
}
extern "C" __global__ void unused(int* x) {
    x[0] = 1;
}
"""
TEST = """\
import numpy as np
from pathlib import Path
from cuda.core import (
    Device, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, Program,
    ProgramOptions, launch,
)


def test_link():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(128, stream=stream)
    data = np.from_dlpack(buffer).view(np.int32)
    arch = f"sm_{device.arch}"
    parts = []
    for name in ("kernel.cu", "function.cu"):
        path = str(Path(name).resolve())
        options = ProgramOptions(
            arch=arch, name=path, link_time_optimization=True, relocatable_device_code=True
        )
        parts.append(Program(Path(path).read_text(), "c++", options).compile("ltoir"))
    options = LinkerOptions(arch=arch, link_time_optimization=True)
    linked = Linker(*parts, options=options).link("cubin")
    launch(stream, LaunchConfig(grid=1, block=32), linked.get_kernel("kernel"), buffer, np.int32(9))
    stream.sync()
    assert data[:5].tolist() == [0, 1, 2, 3, 3]
"""


def test_lines_of_programs_linked_from_ltoir(tmp_path):
    for name, text in {
        "kernel.cu": KERNEL,
        "function.cu": FUNCTION,
        "test_link.py": TEST,
        ".coveragerc": "[run]\nbranch = True\nplugins = halfwarp.coverage\n",
        "pytest.ini": "[pytest]\n",
    }.items():
        (tmp_path / name).write_text(text)
    outcome = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cuda-emulate",
            "--cov=.", "--cov-report=json",
        ],
        cwd=tmp_path, env=os.environ, capture_output=True, text=True,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    files = json.loads((tmp_path / "coverage.json").read_text())["files"]
    assert (files["kernel.cu"]["executed_lines"], files["kernel.cu"]["missing_lines"]) == (
        [3, 4],
        [5],
    )
    assert 2 in files["function.cu"]["executed_lines"]
    assert 5 in files["function.cu"]["missing_lines"]
