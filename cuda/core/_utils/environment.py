# SPDX-License-Identifier: Apache-2.0
"""Checks the values of environment variables. `halfwarp doctor` reports misspelled names."""

import os

FLAGS = ("HALFWARP_FULL_TRACEBACK", "HALFWARP_NVTX", "HALFWARP_REPORT_LEAKS")


def check():
    """Raise ValueError if a variable has an invalid value. Host only."""
    for name in FLAGS:
        value = os.environ.get(name, "")
        if value not in ("", "0", "1"):
            raise ValueError(f"{name}={value} is not understood: it may be 0 or 1")
