# SPDX-License-Identifier: Apache-2.0
"""The texture probe completes, is deterministic, and causes no fault."""

import os
import subprocess
import sys
from pathlib import Path

PROBE = Path(__file__).with_name("hardware_probe.py")


def probe(*chosen):
    done = subprocess.run(
        [sys.executable, str(PROBE), *chosen],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def test_every_case_that_may_not_be_refused_gives_values():
    result = probe("addressing", "formats", "weights", "memory", "surfaces")
    assert len(result) > 130
    without = {name for name, text in result.items() if text.startswith("CUDA_ERROR")}
    assert all(name.startswith(("pitch ", "linear from byte")) for name in without)
    words = {word for text in result.values() for row in text.split() for word in row.split(",")}
    assert "abababab" not in words  # the initial value: every point was written


def test_it_is_deterministic():
    assert probe("levels", "refusals") == probe("levels", "refusals")


def test_the_middle_of_an_element_is_the_element():
    result = probe("addressing")
    plain = result["line clamp point normalized=False"].split()
    mixed = result["line clamp linear normalized=False"].split()
    at = 3  # the point 0.5
    assert plain[at] == mixed[at]
