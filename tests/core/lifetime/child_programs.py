# SPDX-License-Identifier: Apache-2.0
"""Runs programs of this folder that try many calls in child processes."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def failures_of(*arguments, timeout):
    """Run Python with arguments, and return the failures that the program prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", "PYTHONPATH": str(FOLDER)},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()
