# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces on the emulator beside what an H200 read, recorded with the probe.

``hardware_h200.txt.gz`` is what ``hardware_probe.py`` printed there, with a driver of CUDA 13.0.
"""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cuda.core import emulation

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="about the emulated driver")

HERE = Path(__file__).parent
# A filter's weights have eight bits; where a product of them lies in the middle of two numbers, a
# device takes one or the other. Elements of floats are up to 4 apart, fractions up to 2, and the
# levels of an array 1 more each.
MIXED = 1 / 64
LINEAR = ("line ", "plane", "volume", "float of", "level", "gradient", "pitched memory linear")


def cases(text):
    return dict(line.split(": ", 1) for line in text.splitlines())


@pytest.fixture(scope="module")
def answers():
    done = subprocess.run(
        [sys.executable, HERE / "hardware_probe.py"],
        env={**os.environ, "HALFWARP_BACKEND": "emulator"},
        capture_output=True,
        text=True,
        check=True,
    )
    return cases(done.stdout)


@pytest.fixture(scope="module")
def recorded():
    return cases(gzip.decompress((HERE / "hardware_h200.txt.gz").read_bytes()).decode())


def is_mixed(name):
    is_filtered = ("linear" in name and name.startswith(LINEAR)) or "normalized_float" in name
    return is_filtered or name.startswith(("weights", "srgb", "level", "gradient"))


def floats(text):
    rows = [row.split(",") for row in text.split()]
    return np.array([[int(word, 16) for word in row] for row in rows], np.uint32).view(np.float32)


def test_the_same_cases_are_asked(answers, recorded):
    assert list(answers) == list(recorded)


def test_what_is_not_mixed_is_the_same_to_the_bit(answers, recorded):
    plain = [name for name in recorded if not is_mixed(name)]
    assert len(plain) > 90
    assert {name: answers[name] for name in plain} == {name: recorded[name] for name in plain}


def test_what_is_mixed_differs_by_a_weight_at_most(answers, recorded):
    mixed = [name for name in recorded if is_mixed(name)]
    assert len(mixed) > 60
    far = {}
    for name in mixed:
        error = np.abs(floats(answers[name]) - floats(recorded[name])).max()
        if not error <= MIXED:
            far[name] = error
    assert not far


def test_a_filter_along_one_axis_or_two_is_that_of_the_device(answers, recorded):
    """But for the last bits of a float."""
    for name in recorded:
        if name.startswith(("line ", "plane")) and "linear " in name and "normalized=" in name:
            error = np.abs(floats(answers[name]) - floats(recorded[name])).max()
            assert error <= 2**-21, name
