# SPDX-License-Identifier: Apache-2.0
"""Settings of a machine outlive a process that changes them: no test does that to a real one.

A test that ran as root switched a GPU to MIG, where nothing can use it until somebody makes
instances. So what NVML can change is refused wherever it is not emulated.
"""

import functools
import re

_OF_A_MACHINE = re.compile(r"(device|gpu_instance|compute_instance|system|unit|vgpu_instance)_")
# Words in the names of functions that only tell, or change no more than this process.
_HARMLESS = {"get", "is", "query", "validate", "on", "discover", "affinity", "event", "events"}


def setters(nvml):
    """The names of the functions that change a machine."""
    return [
        name
        for name in dir(nvml)
        if _OF_A_MACHINE.match(name)
        and callable(getattr(nvml, name))
        and _HARMLESS.isdisjoint(name.split("_"))
    ]


def keep_as_they_are(nvml, refuse):
    """Let each of them call `refuse` with its name instead."""
    for name in setters(nvml):
        setattr(nvml, name, _refusing(getattr(nvml, name), functools.partial(refuse, name)))


def _refusing(function, refuse):
    @functools.wraps(function)
    def refused(*args, **kwargs):
        refuse()

    return refused
