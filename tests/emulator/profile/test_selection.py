# SPDX-License-Identifier: Apache-2.0
"""Without the emulator there is no profile, and the error says how to select it."""

import os
import subprocess
import sys


def test_a_profile_needs_the_emulator():
    program = "from cuda.core import emulation\nwith emulation.profile(): pass"
    environment = {**os.environ, "HALFWARP_BACKEND": "driver"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "RuntimeError: kernels are counted by the emulator, which is not active" in done.stderr
