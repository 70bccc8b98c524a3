# SPDX-License-Identifier: Apache-2.0
"""The emulator returns the results that GPUs returned to the questions of the probes."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cuda.core import emulation

PROBES = {"graph": 1, "memory": 1, "several_devices": 2}  # and their devices


@pytest.mark.timeout(300)
@pytest.mark.skipif(not emulation.is_active(), reason="run the probe itself to ask a GPU")
@pytest.mark.parametrize(("probe", "devices"), PROBES.items())
def test_the_emulator_returns_the_results_of_gpus(probe, devices):
    module = import_module(f"tests.emulator.{probe}.hardware_probe")
    assert module.QUESTIONS.keys() == module.EXPECTED.keys()
    settings = {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_DEVICES": str(devices)}
    done = subprocess.run(
        [sys.executable, "-m", module.__name__],
        cwd=Path(__file__).parents[2],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
