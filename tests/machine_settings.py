# SPDX-License-Identifier: Apache-2.0
"""Protection of machine settings: they outlive the process, so tests change only emulated ones.

A test that ran as root switched a GPU to MIG mode, which makes it unusable until instances are
created. NVML functions that change a machine are therefore skipped unless NVML is emulated.
"""

import functools
import re

_OF_A_MACHINE = re.compile(r"(device|gpu_instance|compute_instance|system|unit|vgpu_instance)_")
# Words in the names of functions that only query, or change no more than this process.
_HARMLESS = {"get", "is", "query", "validate", "on", "discover", "affinity", "event", "events"}


def setters(nvml):
    """Return the names of the functions that change a machine."""
    return [
        name
        for name in dir(nvml)
        if _OF_A_MACHINE.match(name)
        and callable(getattr(nvml, name))
        and _HARMLESS.isdisjoint(name.split("_"))
    ]


def replace_setters(nvml, refuse):
    """Replace each setter by a call of `refuse` with its name."""
    for name in setters(nvml):
        setattr(nvml, name, _refusing(getattr(nvml, name), functools.partial(refuse, name)))


def _refusing(function, refuse):
    @functools.wraps(function)
    def refused(*args, **kwargs):
        refuse()

    return refused
