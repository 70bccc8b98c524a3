# SPDX-License-Identifier: Apache-2.0
"""Run CUDA code without a GPU: select the emulated driver, and query its reports.

The emulated driver executes the PTX of kernels on the CPU. It is for testing and learning: it
reports errors that a GPU hides, and its timings do not predict a GPU's timings.

    from cuda.core import emulation
    emulation.enable(seed=3)            # before the first driver call

``python -m cuda.core.emulation`` prints the device table; ``... run SCRIPT`` runs a script on the
emulator; ``... path`` prints a library folder that makes other CUDA programs use the emulator.
"""

import sys as _sys

from cuda.core.emulation.control import (
    enable,
    error_text,
    faults,
    is_active,
    last_fault,
    leaks,
    options,
    origin,
    repair,
    reset,
    settle,
    stats,
)
from cuda.core.emulation.injection import (
    Rule,
    expect_fault,
    inject,
    sweep,
)
from cuda.core.emulation.management import (
    post_event,
    sensors,
    set_sensors,
)
from cuda.core.emulation.profiling.counts import Counts, KernelCounts, LineCounts
from cuda.core.emulation.profiling.profile import Profile, profile
from cuda.core.emulation.records import (
    Allocation,
    EarlierAccess,
    Fault,
    Leak,
    Origin,
)

__all__ = [
    "Allocation",
    "Counts",
    "EarlierAccess",
    "Fault",
    "KernelCounts",
    "Leak",
    "LineCounts",
    "Origin",
    "Profile",
    "Rule",
    "enable",
    "error_text",
    "expect_fault",
    "faults",
    "inject",
    "is_active",
    "last_fault",
    "leaks",
    "options",
    "origin",
    "post_event",
    "profile",
    "repair",
    "reset",
    "sensors",
    "set_sensors",
    "settle",
    "stats",
    "sweep",
]

if "coverage" in _sys.modules:
    from halfwarp import coverage as _coverage

    _coverage.start_in_program()


def __dir__() -> list[str]:
    return __all__
