# SPDX-License-Identifier: Apache-2.0
"""The emulator answers at awkward moments, in captures and after resets, as an H200 did."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.core import emulation

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="about the emulated driver")

FOLDER = Path(__file__).parents[2] / "core" / "lifetime"
# What a pool counts right after these calls: an H200 counts a free in a stream at the call and
# cuMemFree later, the emulator each when it is carried out.
COUNTED_AT_OTHER_TIMES = (
    "d.cuMemFreeAsync(pointer, d.CUstream(1)) -> SUCCESS",
    "d.cuMemFree(pointer) -> SUCCESS",
)


def comparable(text):
    """The lines, without the counts that belong to another moment."""
    lines = text.splitlines()
    for i, line in enumerate(lines[:-1]):
        if line in COUNTED_AT_OTHER_TIMES:
            lines[i + 1] = lines[i + 1].partition(" pool uses")[0]
    return lines


@pytest.mark.timeout(300)
def test_each_answer_is_that_of_an_h200():
    done = subprocess.run(
        [sys.executable, FOLDER / "hardware_facts.py"],
        env={**os.environ, "HALFWARP_BACKEND": "emulator"},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = comparable((FOLDER / "hardware_facts_h200.txt").read_text())
    assert len(expected) > 250
    assert comparable(done.stdout) == expected, done.stderr
