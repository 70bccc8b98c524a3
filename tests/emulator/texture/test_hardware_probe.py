# SPDX-License-Identifier: Apache-2.0
"""The probe of textures runs to its end, says the same each time, and meets no fault."""

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


def test_every_case_but_those_that_may_be_refused_gives_values():
    found = probe("addressing", "formats", "weights", "memory", "surfaces")
    assert len(found) > 130
    without = {name for name, text in found.items() if text.startswith("CUDA_ERROR")}
    assert all(name.startswith(("pitch ", "linear from byte")) for name in without)
    words = {word for text in found.values() for row in text.split() for word in row.split(",")}
    assert "abababab" not in words  # what was there before: every point was written


def test_it_says_the_same_again():
    assert probe("levels", "refusals") == probe("levels", "refusals")


def test_the_middle_of_an_element_is_the_element():
    found = probe("addressing")
    plain = found["line clamp point normalized=False"].split()
    mixed = found["line clamp linear normalized=False"].split()
    at = 3  # the point 0.5
    assert plain[at] == mixed[at]
