# SPDX-License-Identifier: Apache-2.0
"""Where two devices meet, the emulator answers as two H100 did."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.core import emulation

from tests.emulator.several_devices.hardware_probe import EXPECTED, QUESTIONS


@pytest.mark.timeout(300)
@pytest.mark.skipif(not emulation.is_active(), reason="run the probe itself to ask two GPUs")
def test_the_emulator_answers_as_two_gpus():
    assert QUESTIONS.keys() == EXPECTED.keys()
    done = subprocess.run(
        [sys.executable, "-m", "tests.emulator.several_devices.hardware_probe"],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_DEVICES": "2"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
