# SPDX-License-Identifier: Apache-2.0
"""The published CUDA packages for Python on the emulator, independent of our own packages."""

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


@needs_reference
def test_default_output_of_the_published_compilers_runs():
    printed = run("compiled.py", "async", "exec")
    assert printed == ["compiled", "linked", "linked from PTX", "linked from LTO-IR"]


def run(script, mode, by="path"):
    """Return the lines that a script prints under the published packages."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HALFWARP_", "PYTHON"))}
    command = [sys.executable, "-m", "cuda.core.emulation", by]
    if by == "path":
        clean["LD_LIBRARY_PATH"] = subprocess.check_output(command, text=True).strip()
        command = []
    done = subprocess.run(
        [*command, PYTHON, str(Path(__file__).parent / "foreign" / script)],
        env=clean | {"HALFWARP_EMULATOR_MODE": mode},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "CUDA is emulated" in done.stderr
    return done.stdout.splitlines()
