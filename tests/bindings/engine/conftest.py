# SPDX-License-Identifier: Apache-2.0
"""Libraries that share a contract, recorded C arguments, and child processes on the null driver."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


class Api:
    """Library whose functions have the same contract in driver and runtime."""

    def __init__(self, name, prefix):
        self.module = import_module(f"cuda.bindings.{name}")
        self.prefix = prefix

    def name(self, stem):
        """`StreamQuery` -> `cuStreamQuery` or `cudaStreamQuery`."""
        return self.prefix + stem

    def __getattr__(self, stem):
        return getattr(self.module, self.prefix + stem)

    def type(self, stem):
        """`StreamCaptureMode` -> the class `CUstreamCaptureMode` or `cudaStreamCaptureMode`."""
        driver_name = f"CU{stem[0].lower()}{stem[1:]}"
        return getattr(self.module, driver_name if self.prefix == "cu" else f"cuda{stem}")

    @property
    def result(self):
        """The enumeration of the codes."""
        return self.module.CUresult if self.prefix == "cu" else self.module.cudaError_t


@pytest.fixture(params=[("driver", "cu"), ("runtime", "cuda")], ids=lambda p: p[0])
def api(request):
    return Api(*request.param)


@pytest.fixture
def calls(put):
    """``calls(name, *ctypes)``: a list that receives the arguments of each C call."""

    def record(name, *types):
        seen = []
        put(name, lambda *args: seen.append(args), *types)
        return seen

    return record


@pytest.fixture
def on_null_driver():
    """``on_null_driver(code)``: the output of a child process on the null driver."""

    def run(code, **environment):
        settings = {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_MODE": "null"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, **settings, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "Exception ignored" not in done.stderr
        return done.stdout

    return run
