# SPDX-License-Identifier: Apache-2.0
"""Arguments and answers as NVML's numbers: string enums, bit masks, indices."""

import operator
import warnings
from importlib import import_module

from cuda.core.system._nvml_context import nvml


class Mapping:
    """One string enum, and the numbers that NVML has for its members.

    Parameters
    ----------
    name : str
        Of the enum in `cuda.core.system.typing`.
    numbers : str
        Of the enumeration in `cuda.bindings.nvml`.
    what : str
        The enum in words, as errors have it.
    prefix : str
        What the names of NVML's members begin with.
    otherwise : str, optional
        Name of the member for numbers that no other one has; None where the enum has no such
        member. Without it they are an error.
    **renames
        Members whose names differ: this one = NVML's, with its prefix.
    """

    def __init__(self, name, numbers, what, prefix="", otherwise=None, **renames):
        self.name, self.numbers, self.what = name, numbers, what
        self.prefix, self.otherwise, self.renames = prefix, otherwise, renames
        self.to = self.back = None  # read when they are needed: the enums take long to make

    def _read(self):
        members = getattr(import_module("cuda.core.system.typing"), self.name)
        named = getattr(nvml, self.numbers).__members__
        names = {m: self.renames.get(m.name, self.prefix + m.name) for m in members}
        to = {m: int(named[name]) for m, name in names.items()}
        # of two members with one number, the first
        self.to, self.back = to, {number: m for m, number in reversed(to.items())}

    def members(self):
        """All members, in their order."""
        if self.to is None:
            self._read()
        return list(self.to)

    def number(self, given):
        """NVML's number for a member, or for its string; ValueError for anything else."""
        if self.to is None:
            self._read()
        if isinstance(given, str) and given in self.to:
            return self.to[given]
        if isinstance(given, int) and not isinstance(given, bool) and int(given) in self.back:
            warnings.warn(
                f"a number for the {self.what} is deprecated: use {self.back[int(given)]!r}",
                DeprecationWarning,
                stacklevel=3,
            )
            return int(given)
        raise ValueError(f"Invalid {self.what}: {given}. Must be one of {list(self.to)}")

    def member(self, number):
        """The member for NVML's number."""
        if self.to is None:
            self._read()
        if number in self.back:
            return self.back[number]
        if self.otherwise is None:
            raise ValueError(f"Unknown {self.what} {number}, which this version does not know")
        return next((m for m in self.to if m.name == self.otherwise), None)

    def members_of_mask(self, mask):
        """The members whose bits are set, the lowest first; ValueError for an unknown bit."""
        if self.to is None:
            self._read()
        bits = [1 << i for i in range(mask.bit_length()) if mask >> i & 1]
        for bit in bits:
            if bit not in self.back:
                raise ValueError(f"Unknown {self.what} bit: {bit}")
        return [self.back[bit] for bit in bits]

    def mask(self, given, name):
        """The bits of one member, or of an iterable of them."""
        if isinstance(given, str):
            return self.number(given)
        try:
            several = None if isinstance(given, bytes) else list(given)
        except TypeError:
            several = None
        if several is None:
            raise TypeError(
                f"events must be an {name}, str, or list of {name} or str; "
                f"got {type(given).__name__}"
            )
        mask = 0
        for each in several:
            mask |= self.number(each)
        return mask


ADDRESSING_MODE = Mapping(
    "AddressingMode", "DeviceAddressingModeType", "addressing mode", otherwise="NONE"
)
ARCHITECTURE = Mapping("DeviceArch", "DeviceArch", "architecture", otherwise="UNKNOWN")
AFFINITY_SCOPE = Mapping("AffinityScope", "AffinityScope", "affinity scope")
CLOCK_ID = Mapping("ClockId", "ClockId", "clock ID")
CLOCK_TYPE = Mapping("ClockType", "ClockType", "clock type", MEMORY="MEM")
CLOCK_REASON = Mapping(
    "ClocksEventReasons",
    "ClocksEventReasons",
    "clock event reason",
    "EVENT_REASON_",
    HW_SLOWDOWN="THROTTLE_REASON_HW_SLOWDOWN",
    HW_THERMAL_SLOWDOWN="THROTTLE_REASON_HW_THERMAL_SLOWDOWN",
    HW_POWER_BRAKE_SLOWDOWN="THROTTLE_REASON_HW_POWER_BRAKE_SLOWDOWN",
)
COOLER_CONTROL = Mapping("CoolerControl", "CoolerControl", "cooler control", otherwise="NONE")
COOLER_TARGET = Mapping("CoolerTarget", "CoolerTarget", "cooler target")
EVENT_TYPE = Mapping("EventType", "EventType", "event type")
FAN_POLICY = Mapping(
    "FanControlPolicy",
    "FanControlPolicy",
    "fan control policy",
    TEMPERATURE_CONTROLLED="TEMPERATURE_CONTINUOUS_SW",
)
INFOROM_OBJECT = Mapping("InforomObject", "InforomObject", "InfoROM object")
P2P_INDEX = Mapping("GpuP2PCapsIndex", "GpuP2PCapsIndex", "P2P caps index")
P2P_STATUS = Mapping("GpuP2PStatus", "GpuP2PStatus", "P2P status", otherwise="UNKNOWN")
SYSTEM_EVENT_TYPE = Mapping("SystemEventType", "SystemEventType", "event type", "GPU_DRIVER_")
TEMPERATURE_THRESHOLD = Mapping(
    "TemperatureThresholds", "TemperatureThresholds", "temperature threshold type"
)
THERMAL_CONTROLLER = Mapping(
    "ThermalController", "ThermalController", "thermal controller", otherwise="UNKNOWN"
)
THERMAL_TARGET = Mapping("ThermalTarget", "ThermalTarget", "thermal sensor index")
TOPOLOGY_LEVEL = Mapping("GpuTopologyLevel", "GpuTopologyLevel", "topology level")

BRANDS = (
    ("UNKNOWN", "Unknown"),
    ("QUADRO", "Quadro"),
    ("TESLA", "Tesla"),
    ("NVS", "NVS"),
    ("GRID", "GRID"),
    ("GEFORCE", "GeForce"),
    ("TITAN", "Titan"),
    ("NVIDIA_VAPPS", "NVIDIA vApps"),
    ("NVIDIA_VPC", "NVIDIA VPC"),
    ("NVIDIA_VCS", "NVIDIA VCS"),
    ("NVIDIA_VWS", "NVIDIA VWS"),
    ("NVIDIA_VGAMING", "NVIDIA vGaming"),
    ("QUADRO_RTX", "Quadro RTX"),
    ("NVIDIA_RTX", "NVIDIA RTX"),
    ("NVIDIA", "NVIDIA"),
    ("GEFORCE_RTX", "GeForce RTX"),
    ("TITAN_RTX", "Titan RTX"),
    ("NVIDIA_DLA", "NVIDIA DLA"),
    ("NVIDIA_VGAMEDEV", "NVIDIA vGameDev"),
    ("NVIDIA_NPU", "NVIDIA NPU"),
)
_brands = {}  # by NVML's numbers, read when they are needed


def brand_name(number):
    """The product line as it is written on the box."""
    if not _brands:
        _brands.update((int(getattr(nvml.BrandType, name)), text) for name, text in BRANDS)
    return _brands.get(number, "Unknown")


def integer(given, name, *, below=None, text=None):
    """An argument that is an int, or can stand for one; within [0, below) where that is given."""
    try:
        value = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {type(given).__name__}") from None
    if below is not None and not 0 <= value < below:
        raise ValueError(text or f"{name} {value} is out of range [0, {below})")
    return value


def performance_state(given):
    """The number of a performance state."""
    value = integer(given, "pstate")
    return integer(
        value,
        "pstate",
        below=16,
        text=f"Invalid P-state: {value}. Must be between 0 and 15 inclusive.",
    )


def indices_of_bits(words):
    """The numbers of the bits that are set in words of 64 bits, in their order."""
    found = []
    for i, word in enumerate(words):
        while word:
            lowest = word & -word
            found.append(64 * i + lowest.bit_length() - 1)
            word ^= lowest
    return found
