# SPDX-License-Identifier: Apache-2.0
"""Checks the values of environment variables. `halfwarp doctor` reports misspelled names."""

import os
from importlib import import_module

# variable -> module whose function `check_variable` checks the value
CHECKED = {
    "HALFWARP_NVTX": "cuda.core.extension.nvtx",
    "HALFWARP_REPORT_LEAKS": "cuda.core.memory.leak_report",
}


def check():
    """Raise ValueError if a variable has an invalid value. Host only."""
    for name, module in CHECKED.items():
        if name in os.environ:
            import_module(module).check_variable(os.environ)
