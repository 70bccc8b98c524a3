# SPDX-License-Identifier: Apache-2.0
"""The environment variables that are still to come; of misspelt ones the doctor tells."""

import os
import sys
from importlib import import_module

LATER = {
    "HALFWARP_REPORT_LEAKS": "reports of live allocations at exit",
}


def objections(environment):
    """One line for each variable that has no effect yet. Host only."""
    given = {name: environment.get(name, "") for name in LATER}
    return [
        f"{name}={value} has no effect: {LATER[name]} are not there yet"
        for name, value in given.items()
        if value not in ("", "0")
    ]


def warn_of_ineffective():
    """Say on standard error which variables have no effect; ValueError for one that is not
    understood. Host only.
    """
    if "HALFWARP_NVTX" in os.environ:
        import_module("cuda.core.driver.nvtx").check_variable(os.environ)
    for line in objections(os.environ):
        print(f"halfwarp: {line}", file=sys.stderr)
