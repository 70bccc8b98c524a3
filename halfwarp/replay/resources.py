# SPDX-License-Identifier: Apache-2.0
"""The resources for a replay, and their settings."""

import re

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
DIGITS = 20  # of the largest number of 64 bits
WORDS = {"true": True, "false": False, "none": None}


def setting(text):
    """Parse ``NAME=VALUE``: sizes such as 64M and 2G, true, false, none, or text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError(f"--option needs NAME=VALUE, got {text!r}")
    if number := re.fullmatch(r"(\d+)([KMGT]?)", value):
        if len(number[1]) > DIGITS or (size := int(number[1]) * UNITS[number[2]]) >> 64:
            raise ValueError(f"--option {name} must fit in 64 bits, got {value[:DIGITS]!r}...")
        return name, size
    return name, WORDS.get(value.lower(), value)


class PoolUnderTest:
    """A `PoolMemoryResource`; the option ``upstream`` is ``driver`` or ``virtual``."""

    def __init__(self, device, options):
        from cuda.core import PoolMemoryResource

        options = dict(options)
        upstream = options.pop("upstream", None)
        if upstream is not None:
            if upstream not in RESOURCES or upstream == "pool":
                raise ValueError(f"upstream may be driver or virtual, got {upstream!r}")
            options["upstream"] = RESOURCES[upstream](device, {}).resource
        self.resource = PoolMemoryResource(device, **options)

    def reserved(self):
        """Return the current and peak number of reserved bytes."""
        figures = self.resource.statistics()
        return figures["reserved_bytes.current"], figures["reserved_bytes.peak"]

    def statistics(self):
        return self.resource.statistics()

    def close(self):
        self.resource.close()


class DriverPoolUnderTest:
    """A `DeviceMemoryResource` with its own pool; ``release_threshold`` may be set too."""

    def __init__(self, device, options):
        from cuda.core import DeviceMemoryResource

        options = dict(options)
        threshold = options.pop("release_threshold", None)
        self.resource = DeviceMemoryResource(device, options)
        if threshold is not None:
            self.resource.release_threshold = threshold

    def reserved(self):
        attributes = self.resource.attributes
        return attributes.reserved_mem_current, attributes.reserved_mem_high

    def statistics(self):
        return {}

    def close(self):
        self.resource.close()


class VirtualMemoryUnderTest:
    """A `VirtualMemoryResource`, which maps memory in each call."""

    def __init__(self, device, options):
        from cuda.core import StatisticsMemoryResource, VirtualMemoryResource

        self.resource = StatisticsMemoryResource(VirtualMemoryResource(device, dict(options)))

    def reserved(self):
        figures = self.resource.statistics()
        return figures["reserved_bytes.current"], figures["reserved_bytes.peak"]

    def statistics(self):
        return {}

    def close(self):
        self.resource.close()


RESOURCES = {
    "pool": PoolUnderTest,
    "driver": DriverPoolUnderTest,
    "virtual": VirtualMemoryUnderTest,
}


def create(kind, options, device):
    """Create a resource of a kind, with settings from `setting`.

    Raises
    ------
    ValueError
        If the resource does not support a setting or its value.
    """
    try:
        return RESOURCES[kind](device, options)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"the resource {kind} does not accept {options}: {error}") from None
