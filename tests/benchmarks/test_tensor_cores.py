# SPDX-License-Identifier: Apache-2.0
"""The product of matrices with mma equals the one without; a short run compares no times."""

import os
import subprocess
import sys

import pytest

from benchmarks import environments


def test_both_products_have_a_time_and_equal_results():
    pytest.importorskip("numpy", reason="NumPy is not installed")
    command = [sys.executable, "-m", "benchmarks.tensor_cores", "--order", "128", "--rounds", "1"]
    environment = os.environ | {"HALFWARP_BACKEND": "emulator"}
    root = environments.FOLDER.parent
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names == ["scalar", "tensor"], done.stderr
    assert "the results differ" not in done.stderr


def test_wrong_orders_are_refused():
    command = [sys.executable, "-m", "benchmarks.tensor_cores", "--order", "100"]
    root = environments.FOLDER.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 2
    assert "a multiple of 64" in done.stderr
