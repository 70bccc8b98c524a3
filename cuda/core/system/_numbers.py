# SPDX-License-Identifier: Apache-2.0
"""Conversions between Python values and NVML's numbers: string enums, masks, indices."""

import operator
import warnings
from importlib import import_module

from cuda.core.system._nvml_context import nvml


class Mapping:
    """The mapping between a string enum and NVML's numbers.

    Parameters
    ----------
    name : str
        Name of the enum in `cuda.core.system.typing`.
    numbers : str
        Name of the enumeration in `cuda.bindings.nvml`.
    label : str
        Description of the enum for error messages.
    prefix : str
        Prefix of the names of NVML's members.
    otherwise : str, optional
        Name of the member for unknown numbers; they become None if the enum lacks that member.
        Without it, unknown numbers are an error.
    **renames
        Members with different names: ours = NVML's, including its prefix.
    """

    def __init__(self, name, numbers, label, prefix="", otherwise=None, **renames):
        self.name, self.numbers, self.label = name, numbers, label
        self.prefix, self.otherwise, self.renames = prefix, otherwise, renames
        self.to = self.back = None  # read on first use: the enums are slow to create

    def _read(self):
        members = getattr(import_module("cuda.core.system.typing"), self.name)
        named = getattr(nvml, self.numbers).__members__
        names = {m: self.renames.get(m.name, self.prefix + m.name) for m in members}
        to = {m: int(named[name]) for m, name in names.items()}
        # the first of two members with one number wins
        self.to, self.back = to, {number: m for m, number in reversed(to.items())}

    def members(self):
        """Return all members in order."""
        if self.to is None:
            self._read()
        return list(self.to)

    def number(self, value):
        """Return NVML's number of a member or its string; raise ValueError otherwise."""
        if self.to is None:
            self._read()
        if isinstance(value, str) and value in self.to:
            return self.to[value]
        if isinstance(value, int) and not isinstance(value, bool) and int(value) in self.back:
            warnings.warn(
                f"a number for the {self.label} is deprecated: use {self.back[int(value)]!r}",
                DeprecationWarning,
                stacklevel=3,
            )
            return int(value)
        raise ValueError(f"Invalid {self.label}: {value}. Must be one of {list(self.to)}")

    def member(self, number):
        """Return the member for NVML's number."""
        if self.to is None:
            self._read()
        if number in self.back:
            return self.back[number]
        if self.otherwise is None:
            raise ValueError(f"Unknown {self.label} {number} in this version of halfwarp")
        return next((m for m in self.to if m.name == self.otherwise), None)

    def members_of_mask(self, mask):
        """Return the members of the set bits, lowest first; raise ValueError for unknown bits."""
        if self.to is None:
            self._read()
        bits = [1 << i for i in range(mask.bit_length()) if mask >> i & 1]
        for bit in bits:
            if bit not in self.back:
                raise ValueError(f"Unknown {self.label} bit: {bit}")
        return [self.back[bit] for bit in bits]

    def mask(self, value, name):
        """Return the bits of a member, or of an iterable of members."""
        if isinstance(value, str):
            return self.number(value)
        try:
            several = None if isinstance(value, bytes) else list(value)
        except TypeError:
            several = None
        if several is None:
            raise TypeError(
                f"events must be an {name}, str, or list of {name} or str; "
                f"got {type(value).__name__}"
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
_brands = {}  # keyed by NVML's numbers; filled on first use


def brand_name(number):
    """Return the name of a product line."""
    if not _brands:
        _brands.update((int(getattr(nvml.BrandType, name)), text) for name, text in BRANDS)
    return _brands.get(number, "Unknown")


def integer(arg, name, *, below=None, text=None):
    """Return an argument as an int, checked against [0, below) unless `below` is None."""
    try:
        value = operator.index(arg)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {type(arg).__name__}") from None
    if below is not None and not 0 <= value < below:
        raise ValueError(text or f"{name} {value} is out of range [0, {below})")
    return value


def performance_state(arg):
    """Return the number of a performance state after a range check."""
    value = integer(arg, "pstate")
    return integer(
        value,
        "pstate",
        below=16,
        text=f"Invalid P-state: {value}. Must be between 0 and 15 inclusive.",
    )


def indices_of_bits(words):
    """Return the positions of the set bits in words of 64 bits, in ascending order."""
    positions = []
    for i, word in enumerate(words):
        while word:
            lowest = word & -word
            positions.append(64 * i + lowest.bit_length() - 1)
            word ^= lowest
    return positions
