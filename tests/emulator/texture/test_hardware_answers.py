# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces on the emulator compared with values that an H200 read.

``hardware_h200.txt.gz`` is the output of ``hardware_probe.py`` there, with a driver of CUDA
13.0.
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
# A filter's weights have eight bits; a device rounds a product in the middle of two numbers either
# way. Elements of floats are up to 4 apart, fractions up to 2, and each level of an array adds 1.
MIXED = 1 / 64
LINEAR = ("line ", "plane", "volume", "float of", "level", "gradient", "pitched memory linear")


def cases(text):
    return dict(line.split(": ", 1) for line in text.splitlines())


@pytest.fixture(scope="module")
def results():
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


def test_the_cases_are_the_same(results, recorded):
    assert list(results) == list(recorded)


def test_unfiltered_values_are_equal_to_the_bit(results, recorded):
    plain = [name for name in recorded if not is_mixed(name)]
    assert len(plain) > 90
    assert {name: results[name] for name in plain} == {name: recorded[name] for name in plain}


def test_filtered_values_differ_by_a_weight_at_most(results, recorded):
    mixed = [name for name in recorded if is_mixed(name)]
    assert len(mixed) > 60
    far = {}
    for name in mixed:
        error = np.abs(floats(results[name]) - floats(recorded[name])).max()
        if not error <= MIXED:
            far[name] = error
    assert not far


def test_filters_along_one_or_two_axes_equal_those_of_the_device(results, recorded):
    """Floats may differ in the last bits."""
    for name in recorded:
        if name.startswith(("line ", "plane")) and "linear " in name and "normalized=" in name:
            error = np.abs(floats(results[name]) - floats(recorded[name])).max()
            assert error <= 2**-21, name
