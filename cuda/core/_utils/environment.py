# SPDX-License-Identifier: Apache-2.0
"""Environment variables that are not understood are refused; of misspelt ones the doctor tells."""

import os
from importlib import import_module

# variable -> the module whose `check_variable` knows its values
CHECKED = {
    "HALFWARP_NVTX": "cuda.core.extension.nvtx",
    "HALFWARP_REPORT_LEAKS": "cuda.core.memory.leak_report",
}


def check():
    """ValueError for a variable whose value is not understood. Host only."""
    for name, module in CHECKED.items():
        if name in os.environ:
            import_module(module).check_variable(os.environ)
