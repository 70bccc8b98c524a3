# SPDX-License-Identifier: Apache-2.0
"""Devices as seen by NVML."""

import os

from cuda.core.system._board import (
    DeviceAttributes,
    InforomInfo,
    MigInfo,
    NvlinkInfo,
    PciInfo,
    ProcessInfo,
    RepairStatus,
)
from cuda.core.system._events import DeviceEvents, EventData
from cuda.core.system._field_values import FieldValue, FieldValues, as_list
from cuda.core.system._numbers import (
    ADDRESSING_MODE,
    AFFINITY_SCOPE,
    ARCHITECTURE,
    CLOCK_REASON,
    CLOCK_TYPE,
    EVENT_TYPE,
    TOPOLOGY_LEVEL,
    brand_name,
    indices_of_bits,
    integer,
)
from cuda.core.system._nvml_context import initialize, nvml, query
from cuda.core.system._records import Listed, with_old_members
from cuda.core.system._sensors import (
    BAR1MemoryInfo,
    ClockInfo,
    ClockOffsets,
    CoolerInfo,
    FanInfo,
    GpuDynamicPstatesInfo,
    GpuDynamicPstatesUtilization,
    MemoryInfo,
    Temperature,
    ThermalSensor,
    ThermalSettings,
    Utilization,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import cuda.core
    from cuda.core.system.typing import (
        AddressingMode,
        AffinityScope,
        ClocksEventReasons,
        ClockType,
        DeviceArch,
        EventType,
        GpuTopologyLevel,
    )

__all__ = [
    "BAR1MemoryInfo",
    "ClockInfo",
    "ClockOffsets",
    "CoolerInfo",
    "Device",
    "DeviceAttributes",
    "DeviceEvents",
    "EventData",
    "FanInfo",
    "FieldValue",
    "FieldValues",
    "GpuDynamicPstatesInfo",
    "GpuDynamicPstatesUtilization",
    "InforomInfo",
    "MemoryInfo",
    "MigInfo",
    "NvlinkInfo",
    "PciInfo",
    "ProcessInfo",
    "RepairStatus",
    "Temperature",
    "ThermalSensor",
    "ThermalSettings",
    "Utilization",
]

_UNKNOWN_STATE = 32  # NVML_PSTATE_UNKNOWN
_LINK_COUNT = 91  # NVML_FI_DEV_NVLINK_LINK_COUNT
_NOT_SUPPORTED = 3


def _text(value, name):
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str or bytes, got {type(value).__name__}")
    return value


def _handle_of_uuid(value):
    uuid = _text(value, "uuid")
    if uuid.startswith(("GPU-", "MIG-")):
        return nvml.device_get_handle_by_uuid(uuid)
    try:
        return nvml.device_get_handle_by_uuid(f"GPU-{uuid}")  # CUDA omits the prefix
    except nvml.NotFoundError:
        return nvml.device_get_handle_by_uuid(uuid)


def _find(index, uuid, pci_bus_id):
    try:
        if index is not None:
            return nvml.device_get_handle_by_index_v2(integer(index, "index"))
        if uuid is not None:
            return _handle_of_uuid(uuid)
        return nvml.device_get_handle_by_pci_bus_id_v2(_text(pci_bus_id, "pci_bus_id"))
    except nvml.NvmlError as error:
        requested = next(each for each in (index, uuid, pci_bus_id) if each is not None)
        count = nvml.device_get_count_v2()
        error.add_note(f"NVML has no device {requested!r}; it has {count}, with indices from 0")
        raise


def _from_uuid(uuid):
    return Device(uuid=uuid)


@with_old_members(
    "clock=get_clock display_active=is_display_active display_mode=is_display_connected "
    "fan=get_fan get_auto_boosted_clocks_enabled()=is_auto_boosted_clocks_enabled "
    "get_current_clock_event_reasons()=current_clock_event_reasons "
    "get_supported_clock_event_reasons()=supported_clock_event_reasons "
    "get_supported_pstates()=supported_pstates is_c2c_mode_enabled=is_c2c_enabled "
    "persistence_mode_enabled=is_persistence_mode_enabled"
)
class Device(Listed):
    """A device of the machine, found by its index, UUID or PCI address.

    Host only. NVML lists all devices in the order of the PCI bus and ignores
    ``CUDA_VISIBLE_DEVICES``: an NVML index is not a CUDA device id. A query that the device does
    not support raises `NotSupportedError`.

    Parameters
    ----------
    index : int, optional
        NVML index.
    uuid : str or bytes, optional
        UUID with or without its prefix, ``"GPU-"`` or ``"MIG-"``.
    pci_bus_id : str or bytes, optional
        PCI address ``domain:bus:device.function``.

    Raises
    ------
    ValueError
        If the number of arguments is not one.
    NotFoundError, InvalidArgumentError
        If no device matches.
    """

    __slots__ = ("__weakref__", "_handle")

    def __init__(
        self,
        *,
        index: int | None = None,
        uuid: str | bytes | None = None,
        pci_bus_id: str | bytes | None = None,
    ) -> None:
        count = (index is not None) + (uuid is not None) + (pci_bus_id is not None)
        if count > 1:
            raise ValueError("Handle requires only one of `index`, `uuid`, or `pci_bus_id`.")
        if not count:
            raise ValueError("Handle requires either a device `index`, `uuid`, or `pci_bus_id`.")
        initialize()
        self._handle = _find(index, uuid, pci_bus_id)

    @classmethod
    def _of(cls, handle):
        device = cls.__new__(cls)
        device._handle = int(handle)
        return device

    def __reduce__(self):
        return _from_uuid, (self.uuid,)

    def __repr__(self):
        try:
            return f"<system.Device {self.index} ({self.name})>"
        except nvml.NvmlError as error:  # a lost device, or a MIG device without an index
            return f"<system.Device (name unavailable: {error})>"

    # --- device lookup ---

    @classmethod
    def get_device_count(cls) -> int:
        """Return the number of devices of the machine. Host only."""
        initialize()
        return nvml.device_get_count_v2()

    @classmethod
    def get_all_devices(cls) -> "Iterator[Device]":
        """Iterate over all devices of the machine in index order. Host only."""
        for index in range(cls.get_device_count()):
            yield cls(index=index)

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> "Iterator[Device]":
        """Iterate over the devices with affinity to a processor. Host only; Linux.

        Parameters
        ----------
        cpu_index
            Number of the processor.
        """
        number = integer(cpu_index, "cpu_index")
        initialize()
        return map(cls._of, nvml.system_get_topology_gpu_set(number))

    def to_cuda_device(self) -> "cuda.core.Device":
        """Return the CUDA device with the same UUID. Host only.

        Raises
        ------
        RuntimeError
            If the device is not visible to CUDA, for example due to ``CUDA_VISIBLE_DEVICES``.
        """
        from cuda.core import Device as CudaDevice

        uuid = self.uuid_without_prefix
        for device in CudaDevice.get_all_devices():
            if device.uuid == uuid:
                return device
        raise RuntimeError("No corresponding CUDA device found for this NVML device.")

    # --- identification ---

    @property
    def index(self) -> int:
        """NVML index of the device. Host only."""
        return nvml.device_get_index(self._handle)

    @property
    def uuid(self) -> str:
        """UUID of the device with the prefix ``"GPU-"`` or ``"MIG-"``. Host only."""
        return nvml.device_get_uuid(self._handle)

    @property
    def uuid_without_prefix(self) -> str:
        """UUID in the format of `cuda.core.Device.uuid`. Host only."""
        return self.uuid[4:]

    @property
    def pci_bus_id(self) -> str:
        """PCI address ``domain:bus:device.function``. Host only."""
        return nvml.device_get_pci_info_v3(self._handle).bus_id

    @property
    def minor_number(self) -> int:
        """Minor number N of the device file ``/dev/nvidiaN``. Host only; Linux."""
        return nvml.device_get_minor_number(self._handle)

    @property
    def module_id(self) -> int:
        """Number of the device's position on the board. Host only."""
        return nvml.device_get_module_id(self._handle)

    @property
    def numa_node_id(self) -> int:
        """NUMA node of the device's memory. Host only; Linux."""
        return nvml.device_get_numa_node_id(self._handle)

    @property
    @query("device_get_name")
    def name(self) -> str:
        """Name of the product. Host only."""

    @property
    def brand(self) -> str:
        """Product line, for example ``"GeForce"``. Host only."""
        return brand_name(nvml.device_get_brand(self._handle))

    @property
    def serial(self) -> str:
        """Serial number of the board. Host only."""
        return nvml.device_get_serial(self._handle)

    @property
    def pci_info(self) -> PciInfo:
        """PCI properties of the device. Host only.

        Raises
        ------
        RuntimeError
            If the device is not on a PCI bus.
        """
        try:
            return PciInfo(self._handle, nvml.device_get_pci_info_ext(self._handle))
        except nvml.NotSupportedError as error:
            raise RuntimeError("This device does not have PCI attributes") from error

    # --- properties ---

    @property
    def arch(self) -> "DeviceArch":
        """Architecture; UNKNOWN if this release does not know it. Host only."""
        return ARCHITECTURE.member(nvml.device_get_architecture(self._handle))

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """Compute capability as (major, minor). Host only."""
        return nvml.device_get_cuda_compute_capability(self._handle)

    @property
    def attributes(self) -> DeviceAttributes:
        """Resources of a MIG device. Host only."""
        return DeviceAttributes(nvml.device_get_attributes_v2(self._handle))

    @property
    def addressing_mode(self) -> "AddressingMode | None":
        """Addressing mode for system memory; None if unsupported. Host only."""
        return ADDRESSING_MODE.member(nvml.device_get_addressing_mode(self._handle).value)

    @property
    def is_c2c_enabled(self) -> bool:
        """Whether a chip-to-chip link connects the device to the CPU. Host only."""
        return bool(nvml.device_get_c2c_mode_info_v(self._handle).is_c2c_enabled)

    @property
    def is_display_connected(self) -> bool:
        """Whether a display is connected. Host only."""
        return bool(nvml.device_get_display_mode(self._handle))

    @property
    def is_display_active(self) -> bool:
        """Whether a display is in use. Host only."""
        return bool(nvml.device_get_display_active(self._handle))

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """Whether the driver stays loaded while no program uses the device; settable.

        Host only; Linux. Setting it requires administrator rights (NoPermissionError).
        """
        return bool(nvml.device_get_persistence_mode(self._handle))

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        nvml.device_set_persistence_mode(self._handle, bool(enabled))

    @property
    def mig(self) -> MigInfo:
        """MIG state and MIG devices. Host only."""
        return MigInfo(self)

    @property
    def inforom(self) -> InforomInfo:
        """InfoROM of the board. Host only."""
        return InforomInfo(self._handle)

    @property
    def repair_status(self) -> RepairStatus:
        """Pending memory repairs. Host only."""
        return RepairStatus(nvml.device_get_repair_status(self._handle))

    # --- measurements ---

    @property
    @query("device_get_memory_info_v2", MemoryInfo)
    def memory_info(self) -> MemoryInfo:
        """Current memory sizes. Host only."""

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """Current sizes of the BAR1 window. Host only."""
        return BAR1MemoryInfo(nvml.device_get_bar1_memory_info(self._handle))

    @property
    @query("device_get_utilization_rates", Utilization)
    def utilization(self) -> Utilization:
        """Utilization in the last sampling interval. Host only."""

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """Processes with a CUDA context on the device. Host only."""
        processes = nvml.device_get_compute_running_processes_v3(self._handle)
        return [ProcessInfo(self, each) for each in processes]

    @property
    @query(None, Temperature, "_handle")
    def temperature(self) -> Temperature:
        """Temperatures of the device. Host only."""

    @property
    def cooler(self) -> CoolerInfo:
        """Cooler of the device. Host only."""
        return CoolerInfo(nvml.device_get_cooler_info(self._handle))

    @property
    def num_fans(self) -> int:
        """Number of fans. Host only."""
        return nvml.device_get_num_fans(self._handle)

    def get_fan(self, fan: int = 0) -> FanInfo:
        """Return a fan. Host only.

        Parameters
        ----------
        fan
            Number of the fan, below `num_fans`.

        Raises
        ------
        ValueError
            If the fan does not exist.
        """
        count = self.num_fans
        number = integer(fan, "fan")
        text = f"Fan index {number} is out of range [0, {count})"
        return FanInfo(self._handle, integer(number, "fan", below=count, text=text))

    def get_clock(self, clock_type: "ClockType | str") -> ClockInfo:
        """Return a clock. Host only.

        Parameters
        ----------
        clock_type
            Type of the clock.

        Raises
        ------
        ValueError
            If the clock type is unknown.
        """
        return ClockInfo(self._handle, CLOCK_TYPE.number(clock_type))

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Whether clock boost is automatic: currently, and by default. Host only."""
        current, default = nvml.device_get_auto_boosted_clocks_enabled(self._handle)
        return bool(current), bool(default)

    @property
    def current_clock_event_reasons(self) -> "list[ClocksEventReasons]":
        """Reasons for the current reduction of the clocks. Host only."""
        mask = nvml.device_get_current_clocks_event_reasons(self._handle)
        return CLOCK_REASON.members_of_mask(mask)

    @property
    def supported_clock_event_reasons(self) -> "list[ClocksEventReasons]":
        """All clock reduction reasons that the device can report. Host only."""
        mask = nvml.device_get_supported_clocks_event_reasons(self._handle)
        return CLOCK_REASON.members_of_mask(mask)

    @property
    def performance_state(self) -> int | None:
        """Performance state from 0, the fastest, to 15; None if unknown. Host only."""
        state = nvml.device_get_performance_state(self._handle)
        return None if state == _UNKNOWN_STATE else int(state)

    @property
    def supported_pstates(self) -> list[int]:
        """All performance states of the device. Host only."""
        states = nvml.device_get_supported_performance_states(self._handle)
        return [int(each) for each in states if each != _UNKNOWN_STATE]

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """Utilization of the components, which controls the clocks. Host only."""
        return GpuDynamicPstatesInfo(nvml.device_get_dynamic_pstates_info(self._handle))

    def get_field_values(self, field_ids: "Iterable[int | tuple[int, int]]") -> FieldValues:
        """Query several fields in one call. Host only.

        Parameters
        ----------
        field_ids
            Members of `FieldId`, or tuples of a member and its scope id.

        Returns
        -------
        FieldValues
            The values in the order of `field_ids`. An unsupported field raises when its `value` is
            read; the other values stay readable.

        Raises
        ------
        ValueError
            If an entry is neither.

        See Also
        --------
        nvmlDeviceGetFieldValues : the NVML function.
        """
        return FieldValues(nvml.device_get_field_values(self._handle, as_list(field_ids)))

    def clear_field_values(self, field_ids: "Iterable[int | tuple[int, int]]") -> None:
        """Reset counters to zero. Host only.

        Parameters
        ----------
        field_ids
            Fields as in `get_field_values`.

        See Also
        --------
        nvmlDeviceClearFieldValues : the NVML function.
        """
        fields = as_list(field_ids)
        if fields:
            nvml.device_clear_field_values(self._handle, fields)

    # --- events ---

    def get_supported_event_types(self) -> "list[EventType]":
        """Return the event types that the device supports. Host only; Linux."""
        types = nvml.device_get_supported_event_types(self._handle)
        known = EVENT_TYPE.mask(EVENT_TYPE.members(), "EventType")
        return EVENT_TYPE.members_of_mask(types & known)

    def register_events(
        self, events: "EventType | str | Iterable[EventType | str]"
    ) -> DeviceEvents:
        """Register for events of the device. Host only; Linux.

        Parameters
        ----------
        events
            One event type, or an iterable of event types.

        Returns
        -------
        DeviceEvents
            The set that waits for the events.

        Raises
        ------
        TypeError
            If `events` is neither.
        ValueError
            If an event type is unknown.
        NotSupportedError
            If the device does not support an event type.

        See Also
        --------
        nvmlEventSetCreate, nvmlDeviceRegisterEvents : the NVML functions.
        """
        return DeviceEvents(self, EVENT_TYPE.mask(events, "EventType"))

    # --- topology ---

    def get_cpu_affinity(self, scope: "AffinityScope | str" = "node") -> list[int]:
        """Return the processors with affinity to the device. Host only; Linux.

        Parameters
        ----------
        scope
            The scope of affinity.

        Raises
        ------
        ValueError
            If the scope is unknown.
        """
        number = AFFINITY_SCOPE.number(scope)
        return indices_of_bits(
            nvml.device_get_cpu_affinity_within_scope(self._handle, _words(), number)
        )

    def get_memory_affinity(self, scope: "AffinityScope | str" = "node") -> list[int]:
        """Return the NUMA nodes with affinity to the device. Host only; Linux.

        Parameters
        ----------
        scope
            The scope of affinity.

        Raises
        ------
        ValueError
            If the scope is unknown.
        """
        number = AFFINITY_SCOPE.number(scope)
        return indices_of_bits(nvml.device_get_memory_affinity(self._handle, _words(), number))

    def set_cpu_affinity(self) -> None:
        """Bind the calling thread to processors near the device. Host only; Linux."""
        nvml.device_set_cpu_affinity(self._handle)

    def clear_cpu_affinity(self) -> None:
        """Remove the processor binding of the calling thread. Host only; Linux."""
        nvml.device_clear_cpu_affinity(self._handle)

    def get_topology_nearest_gpus(self, level: "GpuTopologyLevel | str") -> "Iterator[Device]":
        """Iterate over the devices at a topology level from this device. Host only; Linux.

        Parameters
        ----------
        level
            The topology level.

        Raises
        ------
        ValueError
            If the level is unknown.
        """
        number = TOPOLOGY_LEVEL.number(level)
        return map(Device._of, nvml.device_get_topology_nearest_gpus(self._handle, number))

    def get_nvlink_count(self) -> int:
        """Return the number of NVLinks. Host only."""
        (data,) = nvml.device_get_field_values(self._handle, [_LINK_COUNT])
        if data.nvml_return == _NOT_SUPPORTED:
            return 0
        return FieldValue(data).value

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """Return an NVLink. Host only.

        Parameters
        ----------
        link
            Number of the link, below `get_nvlink_count`.

        Raises
        ------
        ValueError
            If the link does not exist.
        """
        count = self.get_nvlink_count()
        number = integer(link, "link")
        text = f"Link index {number} is out of range [0, {count})"
        return NvlinkInfo(self, integer(number, "link", below=count, text=text))

    def get_nvlinks(self) -> "Iterator[NvlinkInfo]":
        """Iterate over all NVLinks. Host only."""
        for link in range(self.get_nvlink_count()):
            yield NvlinkInfo(self, link)


def _words():
    """Return the number of 64-bit words that hold a bit for each processor."""
    return -(-(os.cpu_count() or 1) // 64)
