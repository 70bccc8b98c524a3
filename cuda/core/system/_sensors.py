# SPDX-License-Identifier: Apache-2.0
"""What is measured: memory, utilization, temperatures, clocks, fans, performance states."""

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
from cuda.core.system._nvml_context import nvml
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

# The first architecture that has these thresholds as field values instead.
_ADA = 8
_NOW = "current"  # a ClockId
_HIGHEST = ("shutdown", "slowdown", "mem_max", "gpu_max")


class MemoryInfo(Record):
    """The memory of a device at one moment, in bytes."""

    __slots__ = ()

    @property
    def free(self) -> int:
        """What can be allocated, in bytes. Host only."""
        return self._data.free

    @property
    def total(self) -> int:
        """All of it, in bytes. Host only."""
        return self._data.total

    @property
    def used(self) -> int:
        """What is allocated, in bytes. Host only."""
        return self._data.used

    @property
    def reserved(self) -> int:
        """What the driver keeps for itself, in bytes. Host only."""
        return self._data.reserved


class BAR1MemoryInfo(Record):
    """The part of the memory that other devices of the machine can reach, in bytes."""

    __slots__ = ()

    @property
    def free(self) -> int:
        """What can be mapped, in bytes. Host only."""
        return self._data.bar1_free

    @property
    def total(self) -> int:
        """All of it, in bytes. Host only."""
        return self._data.bar1_total

    @property
    def used(self) -> int:
        """What is mapped, in bytes. Host only."""
        return self._data.bar1_used


class Utilization(Record):
    """How busy a device was in the last interval of measuring, in percent."""

    __slots__ = ()

    @property
    def gpu(self) -> int:
        """The part of the time in which a kernel ran, in percent. Host only."""
        return self._data.gpu

    @property
    def memory(self) -> int:
        """The part of the time in which memory was read or written, in percent. Host only."""
        return self._data.memory


class ThermalSensor(Record):
    """One sensor of a `ThermalSettings`; temperatures are in degrees Celsius."""

    __slots__ = ()

    @property
    def controller(self) -> "ThermalController":
        """The part that measures. Host only."""
        return THERMAL_CONTROLLER.member(self._data.controller)

    @property
    def target(self) -> "ThermalTarget":
        """What is measured. Host only."""
        return THERMAL_TARGET.member(self._data.target)

    @property
    def current_temp(self) -> int:
        """The temperature, in degrees Celsius. Host only."""
        return self._data.current_temp

    @property
    def default_min_temp(self) -> int:
        """The least that is measured, in degrees Celsius. Host only."""
        return self._data.default_min_temp

    @property
    def default_max_temp(self) -> int:
        """The most that is measured, in degrees Celsius. Host only."""
        return self._data.default_max_temp


class ThermalSettings(Records):
    """The sensors of one target: a sequence of `ThermalSensor`."""

    __slots__ = ()
    _what = "Thermal sensor"

    def _length(self):
        return self._data.count

    def _item(self, index):
        return ThermalSensor(self._data.sensor[index])


@with_old_members(
    "sensor=get_sensor threshold=get_threshold thermal_settings=get_thermal_settings",
    sensor=lambda temperature: lambda sensor=0: temperature.get_sensor(),
)
class Temperature(OfDevice):
    """The temperatures of a device, in degrees Celsius; each question asks the device."""

    __slots__ = ()

    def get_sensor(self) -> int:
        """The temperature of the chip, in degrees Celsius. Host only.

        See Also
        --------
        nvmlDeviceGetTemperatureV : the NVML function.
        """
        return nvml.device_get_temperature_v(self._handle, 0)

    def get_threshold(self, threshold_type: "TemperatureThresholds | str") -> int:
        """A temperature at which something happens, in degrees Celsius. Host only.

        Parameters
        ----------
        threshold_type
            Which one. Those of the chip and its memory are field values from Ada on.

        Raises
        ------
        ValueError
            For another threshold.
        NotSupportedError
            If the device has none of that kind.

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
        """How much hotter it may become before it slows down, in degrees Celsius. Host only."""
        return nvml.device_get_margin_temperature(self._handle)

    def get_thermal_settings(self, sensor_index: "ThermalTarget | str") -> ThermalSettings:
        """The sensors of a target, as they are now. Host only.

        Parameters
        ----------
        sensor_index
            The target.

        Raises
        ------
        ValueError
            For another target.

        See Also
        --------
        nvmlDeviceGetThermalSettings : the NVML function.
        """
        number = THERMAL_TARGET.number(sensor_index)
        return ThermalSettings(nvml.device_get_thermal_settings(self._handle, number))


class ClockOffsets(Record):
    """By how much a clock is, and can be, moved; in MHz."""

    __slots__ = ()

    @property
    def clock_offset_mhz(self) -> int:
        """The offset now, in MHz. Host only."""
        return self._data.clock_offset_m_hz

    @property
    def max_offset_mhz(self) -> int:
        """The highest offset, in MHz. Host only."""
        return self._data.max_clock_offset_m_hz

    @property
    def min_offset_mhz(self) -> int:
        """The lowest offset, in MHz. Host only."""
        return self._data.min_clock_offset_m_hz


class ClockInfo(OfDevice):
    """One clock of a device; each question asks the device."""

    __slots__ = ("_type",)

    def __init__(self, handle, clock_type):
        self._handle = handle
        self._type = clock_type

    def __repr__(self):
        return f"<ClockInfo {str(CLOCK_TYPE.member(self._type))!r}>"

    def get_current_mhz(self, clock_id: "ClockId | str" = _NOW) -> int:
        """The frequency, in MHz. Host only.

        Parameters
        ----------
        clock_id
            The frequency now, or the highest that a user may choose.

        Raises
        ------
        ValueError
            For another value of a clock.

        See Also
        --------
        nvmlDeviceGetClock : the NVML function.
        """
        number = 0 if clock_id is _NOW else CLOCK_ID.number(clock_id)
        return nvml.device_get_clock(self._handle, self._type, number)

    def get_max_mhz(self) -> int:
        """The highest frequency, in MHz. Host only."""
        return nvml.device_get_max_clock_info(self._handle, self._type)

    def get_max_customer_boost_mhz(self) -> int:
        """The highest frequency that a user may choose, in MHz. Host only."""
        return nvml.device_get_max_customer_boost_clock(self._handle, self._type)

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """The lowest and the highest frequency of a performance state, in MHz. Host only.

        Parameters
        ----------
        pstate
            The performance state: 0, the fastest, to 15.

        Raises
        ------
        ValueError
            For another number.
        NotSupportedError
            If the device does not have that state.
        """
        state = performance_state(pstate)
        return nvml.device_get_min_max_clock_of_p_state(self._handle, self._type, state)

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """By how much the clock is moved in a performance state. Host only.

        Parameters
        ----------
        pstate
            The performance state: 0, the fastest, to 15.

        Raises
        ------
        ValueError
            For another number.
        NotSupportedError
            If the device does not have that state, or no offsets.
        """
        state = performance_state(pstate)
        return ClockOffsets(nvml.device_get_clock_offsets(self._handle, self._type, state))


@with_old_members("set_default_fan_speed=set_default_speed")
class FanInfo(OfDevice):
    """One fan of a device; each question asks the device."""

    __slots__ = ("_fan",)

    def __init__(self, handle, fan):
        self._handle = handle
        self._fan = fan

    def __repr__(self):
        return f"<FanInfo {self._fan}>"

    @property
    def speed(self) -> int:
        """The speed that the fan is meant to have, in percent of the highest; may be set.

        Host only. To set it needs the rights of an administrator and makes control manual.
        """
        return nvml.device_get_fan_speed_v2(self._handle, self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        nvml.device_set_fan_speed_v2(self._handle, self._fan, integer(speed, "speed"))

    @property
    def speed_rpm(self) -> int:
        """The speed that is measured, in rotations per minute. Host only."""
        return nvml.device_get_fan_speed_rpm(self._handle, self._fan)

    @property
    def target_speed(self) -> int:
        """The speed that the driver aims at, in percent of the highest. Host only."""
        return nvml.device_get_target_fan_speed(self._handle, self._fan)

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """The lowest and the highest speed that may be set, in percent. Host only."""
        return nvml.device_get_min_max_fan_speed(self._handle)

    @property
    def control_policy(self) -> "FanControlPolicy":
        """What sets the speed. Host only."""
        return FAN_POLICY.member(nvml.device_get_fan_control_policy_v2(self._handle, self._fan))

    def set_default_speed(self) -> None:
        """Let the driver set the speed again, by the temperature. Host only.

        Raises
        ------
        NoPermissionError
            Without the rights of an administrator.
        """
        nvml.device_set_default_fan_speed_v2(self._handle, self._fan)


class CoolerInfo(Record):
    """How a device is cooled."""

    __slots__ = ()

    @property
    def signal_type(self) -> "CoolerControl | None":
        """How the cooler is driven; None for a cooler that is not. Host only."""
        return COOLER_CONTROL.member(self._data.signal_type)

    @property
    def target(self) -> "list[CoolerTarget]":
        """What it cools. Host only."""
        return COOLER_TARGET.members_of_mask(self._data.target)


class GpuDynamicPstatesUtilization(Record):
    """How busy a part of a device is, and when its clocks are changed for that; in percent."""

    __slots__ = ()

    @property
    def is_present(self) -> bool:
        """Whether the device has that part. Host only."""
        return bool(self._data.b_is_present)

    @property
    def percentage(self) -> int:
        """How busy it was in the last second, in percent. Host only."""
        return self._data.percentage

    @property
    def inc_threshold(self) -> int:
        """Busier than that, its clocks are raised; in percent. Host only."""
        return self._data.inc_threshold

    @property
    def dec_threshold(self) -> int:
        """Less busy than that, its clocks are lowered; in percent. Host only."""
        return self._data.dec_threshold


class GpuDynamicPstatesInfo(Records):
    """How busy the parts of a device are: graphics, memory, video, bus, and four more."""

    __slots__ = ()
    _what = "GPU dynamic P-states"

    def _length(self):
        return len(self._data.utilization)

    def _item(self, index):
        return GpuDynamicPstatesUtilization(self._data.utilization[index])
