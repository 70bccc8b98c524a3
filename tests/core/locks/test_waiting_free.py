# SPDX-License-Identifier: Apache-2.0
"""No deadlock between a free that waits, a host function in Python, and other threads."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_free_that_waits_for_a_host_function_blocks_nobody_forever(device, watch_library):
    command = [sys.executable, "-m", "tests.core.locks.waiting_free", watch_library]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as error:
        *_, last = error.stdout.decode().splitlines()
        raise AssertionError(f"deadlock: {last}") from None
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "finished"
