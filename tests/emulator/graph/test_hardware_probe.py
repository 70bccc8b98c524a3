# SPDX-License-Identifier: Apache-2.0
"""The emulator gives the answers that the probe expects of a GPU's driver."""

import subprocess
import sys
from pathlib import Path

import pytest
from cuda.core import emulation

from tests.emulator.graph.hardware_probe import EXPECTED, QUESTIONS


@pytest.mark.skipif(not emulation.is_active(), reason="run the module itself to ask a GPU")
def test_the_emulator_answers_as_expected():
    assert QUESTIONS.keys() == EXPECTED.keys()
    done = subprocess.run(
        [sys.executable, "-m", "tests.emulator.graph.hardware_probe"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
