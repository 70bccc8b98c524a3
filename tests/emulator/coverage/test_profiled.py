# SPDX-License-Identifier: Apache-2.0
"""A profile counts a kernel without marks, and the report has the lines of the kernel."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("coverage")
pytest.importorskip("pytest_cov")

TEST = '''\
import json
import os
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, emulation, launch

SOURCE = """
__constant__ float factor = 2;
__device__ int launches;
extern "C" __global__ void distances(const float* in, float* out, int n) {
    float sum = 0;
    for (int j = 0; j < 64; ++j) {
        float d = in[j] - in[threadIdx.x];
        sum += factor * d * d;
    }
    if (n > 100)
        sum = -sum;
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0)
        launches += 1;
}
"""


def test_counters():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    memory = LegacyPinnedMemoryResource()
    first, second = (memory.allocate(1024, stream=stream) for _ in range(2))
    np.from_dlpack(first).view(np.float32)[:] = range(256)
    code = Program(SOURCE, "c++").compile("cubin")
    kernel = code.get_kernel("distances")
    config = LaunchConfig(grid=1, block=64)
    with emulation.profile() as profile:
        launch(stream, config, kernel, first, second, np.int32(9))
        stream.sync()
    if os.environ["AFTERWARDS"] == "1":
        launch(stream, config, kernel, first, second, np.int32(9))
        stream.sync()
    results = np.from_dlpack(second).view(np.float32)[:64].tolist()
    assert results[0] == 2 * sum(j * j for j in range(64))
    with open("counters.json", "w") as file:
        json.dump([profile.as_dict()["kernels"][0]["counters"], results], file)
'''


def count(folder, *options, afterwards="0"):
    (folder / "test_counters.py").write_text(TEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    outcome = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cuda-emulate",
            *options,
        ],
        cwd=folder, env={**os.environ, "AFTERWARDS": afterwards}, capture_output=True, text=True,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return json.loads((folder / "counters.json").read_text())


def test_coverage_does_not_change_counters(tmp_path):
    options = ["--cov=.", "--cov-branch", "--cov-report=json"]
    counted = count(tmp_path, *options)
    assert counted == count(tmp_path)
    files = json.loads((tmp_path / "coverage.json").read_text())["files"]
    assert files["test_counters.py"]["missing_lines"] == [16, 38, 39]
    assert count(tmp_path, *options, afterwards="1") == counted
    files = json.loads((tmp_path / "coverage.json").read_text())["files"]
    assert [15, 16] in files["test_counters.py"]["missing_branches"]
    assert [15, 17] in files["test_counters.py"]["executed_branches"]
