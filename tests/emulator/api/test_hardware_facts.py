# SPDX-License-Identifier: Apache-2.0
"""The emulator returns what an H200 returned in captures, after resets and with pending work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.core import emulation

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="about the emulated driver")

FOLDER = Path(__file__).parents[2] / "core" / "lifetime"
# Pool counts right after these calls differ: an H200 counts a stream-ordered free at the call and
# cuMemFree later; the emulator counts each when it is executed.
COUNTED_AT_OTHER_TIMES = (
    "d.cuMemFreeAsync(pointer, d.CUstream(1)) -> SUCCESS",
    "d.cuMemFree(pointer) -> SUCCESS",
)


def comparable(text):
    """Remove the counts that depend on timing from the lines."""
    lines = text.splitlines()
    for i, line in enumerate(lines[:-1]):
        if line in COUNTED_AT_OTHER_TIMES:
            lines[i + 1] = lines[i + 1].partition(" pool uses")[0]
    return lines


@pytest.mark.timeout(300)
def test_each_result_equals_that_of_an_h200():
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
