# SPDX-License-Identifier: Apache-2.0
"""Checks of environment variables' values. The doctor reports misspelled names."""

import os
from importlib import import_module

# variable: the module whose `check_variable` validates it
CHECKED = {
    "HALFWARP_NVTX": "cuda.core.extension.nvtx",
    "HALFWARP_REPORT_LEAKS": "cuda.core.memory.leak_report",
}


def check():
    """Raise ValueError for a variable with an invalid value. Host only."""
    for name, module in CHECKED.items():
        if name in os.environ:
            import_module(module).check_variable(os.environ)
