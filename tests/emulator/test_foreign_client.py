# SPDX-License-Identifier: Apache-2.0
"""The published CUDA packages for Python on the emulator: a mistake that our halves share shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = os.environ.get("HALFWARP_REFERENCE_PYTHON")


needs_reference = pytest.mark.skipif(
    not PYTHON, reason="HALFWARP_REFERENCE_PYTHON names no Python with the published packages"
)


@needs_reference
@pytest.mark.parametrize("mode", ["async", "eager"])
def test_the_published_packages_run_on_the_emulator(mode):
    printed = run("smoke.py", mode)
    assert printed[0] == "done 4 (9, 0)"


@needs_reference
@pytest.mark.parametrize("mode", ["async", "eager", "adversarial"])
def test_the_published_packages_build_and_launch_graphs(mode):
    assert run("graphs.py", mode) == ["captured", "updated", "defined", "changed", "kept_memory"]


def run(script, mode):
    """The lines that a script prints under the published packages."""
    folder = subprocess.run(
        [sys.executable, "-m", "cuda.core.emulation", "path"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HALFWARP_", "PYTHON"))}
    done = subprocess.run(
        [PYTHON, str(Path(__file__).parent / "foreign" / script)],
        env=clean | {"LD_LIBRARY_PATH": folder, "HALFWARP_EMULATOR_MODE": mode},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "CUDA is emulated" in done.stderr
    return done.stdout.splitlines()
