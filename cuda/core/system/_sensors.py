# SPDX-License-Identifier: Apache-2.0
"""Measurements: memory, utilization, temperatures, clocks, fans, performance states."""

import warnings

from cuda.core.system._numbers import (
    CLOCK_ID,
    CLOCK_TYPE,
    COOLER_CONTROL,
    COOLER_TARGET,
    FAN_POLICY,
    TEMPERATURE_THRESHOLD,
    THERMAL_CONTROLLER,
    THERMAL_TARGET,
    integer,
    performance_state,
)
from cuda.core.system._nvml_context import member, nvml, query
from cuda.core.system._records import OfDevice, Record, Records, with_old_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuda.core.system.typing import (
        ClockId,
        CoolerControl,
        CoolerTarget,
        FanControlPolicy,
        TemperatureThresholds,
        ThermalController,
        ThermalTarget,
    )

# The first architecture that reports these thresholds as field values instead.
_ADA = 8
_HIGHEST = ("shutdown", "slowdown", "mem_max", "gpu_max")


class MemoryInfo(Record):
    """The memory of a device at one moment, in bytes."""

    __slots__ = ()

    @property
    @member
    def free(self) -> int:
        """Free memory in bytes. Host only."""

    @property
    @member
    def total(self) -> int:
        """Total memory in bytes. Host only."""

    @property
    @member
    def used(self) -> int:
        """Allocated memory in bytes. Host only."""

    @property
    @member
    def reserved(self) -> int:
        """Memory reserved by the driver in bytes. Host only."""


class BAR1MemoryInfo(Record):
    """The BAR1 window, through which other devices access the memory, in bytes."""

    __slots__ = ()

    @property
    def free(self) -> int:
        """Unmapped size in bytes. Host only."""
        return self._data.bar1_free

    @property
    def total(self) -> int:
        """Total size in bytes. Host only."""
        return self._data.bar1_total

    @property
    def used(self) -> int:
        """Mapped size in bytes. Host only."""
        return self._data.bar1_used


class Utilization(Record):
    """Utilization of a device in the last sampling interval, in percent."""

    __slots__ = ()

    @property
    @member
    def gpu(self) -> int:
        """Fraction of the time with a kernel executing, in percent. Host only."""

    @property
    @member
    def memory(self) -> int:
        """Fraction of the time with memory accesses, in percent. Host only."""


class ThermalSensor(Record):
    """A sensor of a `ThermalSettings`; temperatures are in degrees Celsius."""

    __slots__ = ()

    @property
    def controller(self) -> "ThermalController":
        """The controller that measures. Host only."""
        return THERMAL_CONTROLLER.member(self._data.controller)

    @property
    def target(self) -> "ThermalTarget":
        """The measured target. Host only."""
        return THERMAL_TARGET.member(self._data.target)

    @property
    @member
    def current_temp(self) -> int:
        """Current temperature in degrees Celsius. Host only."""

    @property
    @member
    def default_min_temp(self) -> int:
        """Lowest temperature of the sensor's range in degrees Celsius. Host only."""

    @property
    @member
    def default_max_temp(self) -> int:
        """Highest temperature of the sensor's range in degrees Celsius. Host only."""


class ThermalSettings(Records):
    """The sensors of a target: a sequence of `ThermalSensor`."""

    __slots__ = ()
    _label = "Thermal sensor"

    def _length(self):
        return self._data.count

    def _item(self, index):
        return ThermalSensor(self._data.sensor[index])


@with_old_members(
    "sensor=get_sensor threshold=get_threshold thermal_settings=get_thermal_settings",
    sensor=lambda temperature: lambda sensor=0: temperature.get_sensor(),
)
class Temperature(OfDevice):
    """Temperatures of a device in degrees Celsius; each access queries the device."""

    __slots__ = ()

    @query("device_get_temperature_v", arguments=("_handle", 0))
    def get_sensor(self) -> int:
        """Return the temperature of the chip in degrees Celsius. Host only.

        See Also
        --------
        nvmlDeviceGetTemperatureV : the NVML function.
        """

    def get_threshold(self, threshold_type: "TemperatureThresholds | str") -> int:
        """Return a temperature threshold in degrees Celsius. Host only.

        Parameters
        ----------
        threshold_type
            The threshold. From Ada on, field values report the chip and memory thresholds.

        Raises
        ------
        ValueError
            If the threshold is unknown.
        NotSupportedError
            If the device does not have the threshold.

        See Also
        --------
        nvmlDeviceGetTemperatureThreshold : the NVML function.
        """
        number = TEMPERATURE_THRESHOLD.number(threshold_type)
        name = TEMPERATURE_THRESHOLD.member(number)
        if name in _HIGHEST and nvml.device_get_architecture(self._handle) >= _ADA:
            warnings.warn(
                f"{name} is no longer recommended for Ada and later architectures. Use "
                "get_field_values with NVML_FI_DEV_TEMPERATURE_* fields to retrieve this "
                "threshold on these architectures.",
                DeprecationWarning,
                stacklevel=2,
            )
        return nvml.device_get_temperature_threshold(self._handle, number)

    @property
    def margin(self) -> int:
        """Margin to the slowdown temperature in degrees Celsius. Host only."""
        return nvml.device_get_margin_temperature(self._handle)

    def get_thermal_settings(self, sensor_index: "ThermalTarget | str") -> ThermalSettings:
        """Return the current state of a target's sensors. Host only.

        Parameters
        ----------
        sensor_index
            The target.

        Raises
        ------
        ValueError
            If the target is unknown.

        See Also
        --------
        nvmlDeviceGetThermalSettings : the NVML function.
        """
        number = THERMAL_TARGET.number(sensor_index)
        return ThermalSettings(nvml.device_get_thermal_settings(self._handle, number))


class ClockOffsets(Record):
    """Offset of a clock and its limits in MHz."""

    __slots__ = ()

    @property
    def clock_offset_mhz(self) -> int:
        """Current offset in MHz. Host only."""
        return self._data.clock_offset_m_hz

    @property
    def max_offset_mhz(self) -> int:
        """Maximum offset in MHz. Host only."""
        return self._data.max_clock_offset_m_hz

    @property
    def min_offset_mhz(self) -> int:
        """Minimum offset in MHz. Host only."""
        return self._data.min_clock_offset_m_hz


class ClockInfo(OfDevice):
    """A clock of a device; each access queries the device."""

    __slots__ = ("_type",)

    def __init__(self, handle, clock_type):
        self._handle = handle
        self._type = clock_type

    def __repr__(self):
        return f"<ClockInfo {str(CLOCK_TYPE.member(self._type))!r}>"

    @query("device_get_clock", arguments=("_handle", "_type", 0))
    def get_current_mhz(self, clock_id: "ClockId | str" = "current") -> int:
        """Return the frequency in MHz. Host only.

        Parameters
        ----------
        clock_id
            Selects the current frequency or the highest frequency that a user may set.

        Raises
        ------
        ValueError
            If the clock id is unknown.

        See Also
        --------
        nvmlDeviceGetClock : the NVML function.
        """
        return nvml.device_get_clock(self._handle, self._type, CLOCK_ID.number(clock_id))

    def get_max_mhz(self) -> int:
        """Return the maximum frequency in MHz. Host only."""
        return nvml.device_get_max_clock_info(self._handle, self._type)

    def get_max_customer_boost_mhz(self) -> int:
        """Return the highest frequency that a user may set in MHz. Host only."""
        return nvml.device_get_max_customer_boost_clock(self._handle, self._type)

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """Return the minimum and maximum frequency of a performance state in MHz. Host only.

        Parameters
        ----------
        pstate
            The performance state: 0, the fastest, to 15.

        Raises
        ------
        ValueError
            If the number is out of range.
        NotSupportedError
            If the device does not have the state.
        """
        state = performance_state(pstate)
        return nvml.device_get_min_max_clock_of_p_state(self._handle, self._type, state)

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """Return the clock's offsets in a performance state. Host only.

        Parameters
        ----------
        pstate
            The performance state: 0, the fastest, to 15.

        Raises
        ------
        ValueError
            If the number is out of range.
        NotSupportedError
            If the device does not have the state, or no offsets.
        """
        state = performance_state(pstate)
        return ClockOffsets(nvml.device_get_clock_offsets(self._handle, self._type, state))


@with_old_members("set_default_fan_speed=set_default_speed")
class FanInfo(OfDevice):
    """A fan of a device; each access queries the device."""

    __slots__ = ("_fan",)

    def __init__(self, handle, fan):
        self._handle = handle
        self._fan = fan

    def __repr__(self):
        return f"<FanInfo {self._fan}>"

    @property
    def speed(self) -> int:
        """Intended speed in percent of the maximum; settable.

        Host only. Setting it requires administrator rights and switches to manual control.
        """
        return nvml.device_get_fan_speed_v2(self._handle, self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        nvml.device_set_fan_speed_v2(self._handle, self._fan, integer(speed, "speed"))

    @property
    def speed_rpm(self) -> int:
        """Measured speed in rotations per minute. Host only."""
        return nvml.device_get_fan_speed_rpm(self._handle, self._fan)

    @property
    def target_speed(self) -> int:
        """Target speed of the driver in percent of the maximum. Host only."""
        return nvml.device_get_target_fan_speed(self._handle, self._fan)

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """Minimum and maximum settable speed in percent. Host only."""
        return nvml.device_get_min_max_fan_speed(self._handle)

    @property
    def control_policy(self) -> "FanControlPolicy":
        """Policy that controls the speed. Host only."""
        return FAN_POLICY.member(nvml.device_get_fan_control_policy_v2(self._handle, self._fan))

    def set_default_speed(self) -> None:
        """Restore the driver's control of the speed by temperature. Host only.

        Raises
        ------
        NoPermissionError
            Without administrator rights.
        """
        nvml.device_set_default_fan_speed_v2(self._handle, self._fan)


class CoolerInfo(Record):
    """The cooler of a device."""

    __slots__ = ()

    @property
    def signal_type(self) -> "CoolerControl | None":
        """Control signal of the cooler; None for a cooler without control. Host only."""
        return COOLER_CONTROL.member(self._data.signal_type)

    @property
    def target(self) -> "list[CoolerTarget]":
        """Components that the cooler cools. Host only."""
        return COOLER_TARGET.members_of_mask(self._data.target)


class GpuDynamicPstatesUtilization(Record):
    """Utilization of a component and the thresholds that change its clocks, in percent."""

    __slots__ = ()

    @property
    def is_present(self) -> bool:
        """Whether the device has the component. Host only."""
        return bool(self._data.b_is_present)

    @property
    @member
    def percentage(self) -> int:
        """Utilization over the last second in percent. Host only."""

    @property
    @member
    def inc_threshold(self) -> int:
        """Utilization above which the clocks rise, in percent. Host only."""

    @property
    @member
    def dec_threshold(self) -> int:
        """Utilization below which the clocks fall, in percent. Host only."""


class GpuDynamicPstatesInfo(Records):
    """Utilization of a device's components: graphics, memory, video, bus and four more."""

    __slots__ = ()
    _label = "GPU dynamic P-states"

    def _length(self):
        return len(self._data.utilization)

    def _item(self, index):
        return GpuDynamicPstatesUtilization(self._data.utilization[index])
