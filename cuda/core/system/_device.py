# SPDX-License-Identifier: Apache-2.0
"""A device as NVML knows it."""

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
from cuda.core.system._nvml_context import initialize, nvml
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

# Of what monitors ask for in each round: half the time of a call of the class.
_new = object.__new__
_UNKNOWN_STATE = 32  # NVML_PSTATE_UNKNOWN
_LINK_COUNT = 91  # NVML_FI_DEV_NVLINK_LINK_COUNT
_NOT_SUPPORTED = 3


def _text(given, name):
    if isinstance(given, bytes):
        return given.decode()
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a str or bytes, got {type(given).__name__}")
    return given


def _handle_of_uuid(given):
    uuid = _text(given, "uuid")
    if uuid.startswith(("GPU-", "MIG-")):
        return nvml.device_get_handle_by_uuid(uuid)
    try:
        return nvml.device_get_handle_by_uuid(f"GPU-{uuid}")  # as CUDA tells it
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
        given = next(each for each in (index, uuid, pci_bus_id) if each is not None)
        count = nvml.device_get_count_v2()
        error.add_note(f"NVML has no device {given!r}: it has {count}, with indices from 0")
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

    Host only. NVML sees all devices, in the order of the PCI bus, whatever
    ``CUDA_VISIBLE_DEVICES`` says: its index is not the device id of CUDA. What a device does not
    have raises `NotSupportedError`.

    Parameters
    ----------
    index : int, optional
        Its number.
    uuid : str or bytes, optional
        With its prefix, ``"GPU-"`` or ``"MIG-"``, or without it.
    pci_bus_id : str or bytes, optional
        Its address, as ``domain:bus:device.function``.

    Raises
    ------
    ValueError
        Unless exactly one of them is given.
    NotFoundError, InvalidArgumentError
        If there is no such device.
    """

    __slots__ = ("__weakref__", "_handle")

    def __init__(
        self,
        *,
        index: int | None = None,
        uuid: str | bytes | None = None,
        pci_bus_id: str | bytes | None = None,
    ) -> None:
        given = (index is not None) + (uuid is not None) + (pci_bus_id is not None)
        if given > 1:
            raise ValueError("Handle requires only one of `index`, `uuid`, or `pci_bus_id`.")
        if not given:
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
        except nvml.NvmlError as error:  # lost, or a part, which has no index
            return f"<system.Device (its name is not known: {error})>"

    # --- which devices there are ---

    @classmethod
    def get_device_count(cls) -> int:
        """How many devices the machine has. Host only."""
        initialize()
        return nvml.device_get_count_v2()

    @classmethod
    def get_all_devices(cls) -> "Iterator[Device]":
        """All devices of the machine, in the order of their indices. Host only."""
        for index in range(cls.get_device_count()):
            yield cls(index=index)

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> "Iterator[Device]":
        """The devices that are near to a processor. Host only; Linux.

        Parameters
        ----------
        cpu_index
            The number of the processor.
        """
        number = integer(cpu_index, "cpu_index")
        initialize()
        return map(cls._of, nvml.system_get_topology_gpu_set(number))

    def to_cuda_device(self) -> "cuda.core.Device":
        """The same device for CUDA, found by its UUID. Host only.

        Raises
        ------
        RuntimeError
            If CUDA does not see it, for instance because of ``CUDA_VISIBLE_DEVICES``.
        """
        from cuda.core import Device as CudaDevice

        uuid = self.uuid_without_prefix
        for device in CudaDevice.get_all_devices():
            if device.uuid == uuid:
                return device
        raise RuntimeError("No corresponding CUDA device found for this NVML device.")

    # --- which device it is ---

    @property
    def index(self) -> int:
        """Its number among the devices of the machine. Host only."""
        return nvml.device_get_index(self._handle)

    @property
    def uuid(self) -> str:
        """What no other device has, with the prefix ``"GPU-"`` or ``"MIG-"``. Host only."""
        return nvml.device_get_uuid(self._handle)

    @property
    def uuid_without_prefix(self) -> str:
        """The same as `cuda.core.Device.uuid` tells it. Host only."""
        return self.uuid[4:]

    @property
    def pci_bus_id(self) -> str:
        """Its address: ``domain:bus:device.function``. Host only."""
        return nvml.device_get_pci_info_v3(self._handle).bus_id

    @property
    def minor_number(self) -> int:
        """The number in the name of its file, ``/dev/nvidia0``. Host only; Linux."""
        return nvml.device_get_minor_number(self._handle)

    @property
    def module_id(self) -> int:
        """The number of its place on the board. Host only."""
        return nvml.device_get_module_id(self._handle)

    @property
    def numa_node_id(self) -> int:
        """The number that its memory has as a NUMA node. Host only; Linux."""
        return nvml.device_get_numa_node_id(self._handle)

    @property
    def name(self) -> str:
        """The name of the product. Host only."""
        return nvml.device_get_name(self._handle)

    @property
    def brand(self) -> str:
        """The product line, for instance ``"GeForce"``. Host only."""
        return brand_name(nvml.device_get_brand(self._handle))

    @property
    def serial(self) -> str:
        """The number on the board. Host only."""
        return nvml.device_get_serial(self._handle)

    @property
    def pci_info(self) -> PciInfo:
        """What it is on the PCI bus. Host only.

        Raises
        ------
        RuntimeError
            If it is not on such a bus.
        """
        try:
            return PciInfo(self._handle, nvml.device_get_pci_info_ext(self._handle))
        except nvml.NotSupportedError as error:
            raise RuntimeError("This device does not have PCI attributes") from error

    # --- what it is ---

    @property
    def arch(self) -> "DeviceArch":
        """Its architecture; UNKNOWN for one that this release does not know. Host only."""
        return ARCHITECTURE.member(nvml.device_get_architecture(self._handle))

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """Its compute capability, as (major, minor). Host only."""
        return nvml.device_get_cuda_compute_capability(self._handle)

    @property
    def attributes(self) -> DeviceAttributes:
        """What it is made of; of MIG devices. Host only."""
        return DeviceAttributes(nvml.device_get_attributes_v2(self._handle))

    @property
    def addressing_mode(self) -> "AddressingMode | None":
        """How it reaches memory that was allocated without CUDA; None if it does not. Host only."""
        return ADDRESSING_MODE.member(nvml.device_get_addressing_mode(self._handle).value)

    @property
    def is_c2c_enabled(self) -> bool:
        """Whether it is connected to the processor chip to chip. Host only."""
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
        """Whether the driver stays loaded while no program uses the device; may be set.

        Host only; Linux. To set it needs the rights of an administrator (NoPermissionError).
        """
        return bool(nvml.device_get_persistence_mode(self._handle))

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        nvml.device_set_persistence_mode(self._handle, bool(enabled))

    @property
    def mig(self) -> MigInfo:
        """The parts that it is divided into. Host only."""
        return MigInfo(self)

    @property
    def inforom(self) -> InforomInfo:
        """What the board keeps of itself. Host only."""
        return InforomInfo(self._handle)

    @property
    def repair_status(self) -> RepairStatus:
        """What of its memory is to be repaired. Host only."""
        return RepairStatus(nvml.device_get_repair_status(self._handle))

    # --- how it fares ---

    @property
    def memory_info(self) -> MemoryInfo:
        """Its memory, as it is now. Host only."""
        info = _new(MemoryInfo)
        info._data = nvml.device_get_memory_info_v2(self._handle)
        return info

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """The memory that other devices can reach, as it is now. Host only."""
        return BAR1MemoryInfo(nvml.device_get_bar1_memory_info(self._handle))

    @property
    def utilization(self) -> Utilization:
        """How busy it was in the last interval of measuring. Host only."""
        info = _new(Utilization)
        info._data = nvml.device_get_utilization_rates(self._handle)
        return info

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """The processes that have a CUDA context on it. Host only."""
        found = nvml.device_get_compute_running_processes_v3(self._handle)
        return [ProcessInfo(self, each) for each in found]

    @property
    def temperature(self) -> Temperature:
        """Its temperatures. Host only."""
        info = _new(Temperature)
        info._handle = self._handle
        return info

    @property
    def cooler(self) -> CoolerInfo:
        """How it is cooled. Host only."""
        return CoolerInfo(nvml.device_get_cooler_info(self._handle))

    @property
    def num_fans(self) -> int:
        """How many fans it has. Host only."""
        return nvml.device_get_num_fans(self._handle)

    def get_fan(self, fan: int = 0) -> FanInfo:
        """One of its fans. Host only.

        Parameters
        ----------
        fan
            Its number, below `num_fans`.

        Raises
        ------
        ValueError
            If there is no fan of that number.
        """
        count = self.num_fans
        number = integer(fan, "fan")
        text = f"Fan index {number} is out of range [0, {count})"
        return FanInfo(self._handle, integer(number, "fan", below=count, text=text))

    def get_clock(self, clock_type: "ClockType | str") -> ClockInfo:
        """One of its clocks. Host only.

        Parameters
        ----------
        clock_type
            What the clock drives.

        Raises
        ------
        ValueError
            For another clock.
        """
        return ClockInfo(self._handle, CLOCK_TYPE.number(clock_type))

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Whether clocks are raised by themselves: now, and as a rule. Host only."""
        now, usual = nvml.device_get_auto_boosted_clocks_enabled(self._handle)
        return bool(now), bool(usual)

    @property
    def current_clock_event_reasons(self) -> "list[ClocksEventReasons]":
        """Why its clocks are lower than they could be. Host only."""
        mask = nvml.device_get_current_clocks_event_reasons(self._handle)
        return CLOCK_REASON.members_of_mask(mask)

    @property
    def supported_clock_event_reasons(self) -> "list[ClocksEventReasons]":
        """All reasons that it can tell. Host only."""
        mask = nvml.device_get_supported_clocks_event_reasons(self._handle)
        return CLOCK_REASON.members_of_mask(mask)

    @property
    def performance_state(self) -> int | None:
        """Its performance state: 0, the fastest, to 15; None if it is not known. Host only."""
        state = nvml.device_get_performance_state(self._handle)
        return None if state == _UNKNOWN_STATE else int(state)

    @property
    def supported_pstates(self) -> list[int]:
        """All performance states that it can have. Host only."""
        states = nvml.device_get_supported_performance_states(self._handle)
        return [int(each) for each in states if each != _UNKNOWN_STATE]

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """How busy its parts are, by which its clocks are set. Host only."""
        return GpuDynamicPstatesInfo(nvml.device_get_dynamic_pstates_info(self._handle))

    def get_field_values(self, field_ids: "Iterable[int | tuple[int, int]]") -> FieldValues:
        """Values by their numbers, all read in one call. Host only.

        Parameters
        ----------
        field_ids
            Members of `FieldId`, or tuples of one and the number of what it is asked of.

        Returns
        -------
        FieldValues
            In the order of the numbers. One that the device does not have raises when its
            `value` is read; the others stay readable.

        Raises
        ------
        ValueError
            For an entry that is neither.

        See Also
        --------
        nvmlDeviceGetFieldValues : the NVML function.
        """
        return FieldValues(nvml.device_get_field_values(self._handle, as_list(field_ids)))

    def clear_field_values(self, field_ids: "Iterable[int | tuple[int, int]]") -> None:
        """Set counters back to zero. Host only.

        Parameters
        ----------
        field_ids
            As `get_field_values` takes them.

        See Also
        --------
        nvmlDeviceClearFieldValues : the NVML function.
        """
        fields = as_list(field_ids)
        if fields:
            nvml.device_clear_field_values(self._handle, fields)

    # --- what happens to it ---

    def get_supported_event_types(self) -> "list[EventType]":
        """The events that can be waited for. Host only; Linux."""
        types = nvml.device_get_supported_event_types(self._handle)
        known = EVENT_TYPE.mask(EVENT_TYPE.members(), "EventType")
        return EVENT_TYPE.members_of_mask(types & known)

    def register_events(
        self, events: "EventType | str | Iterable[EventType | str]"
    ) -> DeviceEvents:
        """Ask to be told of events. Host only; Linux.

        Parameters
        ----------
        events
            One, or several of them.

        Returns
        -------
        DeviceEvents
            To wait for them.

        Raises
        ------
        TypeError
            For what is neither.
        ValueError
            For an event that there is not.
        NotSupportedError
            If the device does not tell of one of them.

        See Also
        --------
        nvmlEventSetCreate, nvmlDeviceRegisterEvents : the NVML functions.
        """
        return DeviceEvents(self, EVENT_TYPE.mask(events, "EventType"))

    # --- what it is near to ---

    def get_cpu_affinity(self, scope: "AffinityScope | str" = "node") -> list[int]:
        """The processors that are near to it. Host only; Linux.

        Parameters
        ----------
        scope
            What they have in common with it.

        Raises
        ------
        ValueError
            For another scope.
        """
        number = AFFINITY_SCOPE.number(scope)
        return indices_of_bits(
            nvml.device_get_cpu_affinity_within_scope(self._handle, _words(), number)
        )

    def get_memory_affinity(self, scope: "AffinityScope | str" = "node") -> list[int]:
        """The NUMA nodes that are near to it. Host only; Linux.

        Parameters
        ----------
        scope
            What they have in common with it.

        Raises
        ------
        ValueError
            For another scope.
        """
        number = AFFINITY_SCOPE.number(scope)
        return indices_of_bits(nvml.device_get_memory_affinity(self._handle, _words(), number))

    def set_cpu_affinity(self) -> None:
        """Let the calling thread run on processors near to it only. Host only; Linux."""
        nvml.device_set_cpu_affinity(self._handle)

    def clear_cpu_affinity(self) -> None:
        """Let the calling thread run on all processors. Host only; Linux."""
        nvml.device_clear_cpu_affinity(self._handle)

    def get_topology_nearest_gpus(self, level: "GpuTopologyLevel | str") -> "Iterator[Device]":
        """The devices that have just that much between them and this one. Host only; Linux.

        Parameters
        ----------
        level
            What lies between them.

        Raises
        ------
        ValueError
            For another level.
        """
        number = TOPOLOGY_LEVEL.number(level)
        return map(Device._of, nvml.device_get_topology_nearest_gpus(self._handle, number))

    def get_nvlink_count(self) -> int:
        """How many NVLinks it has. Host only."""
        (found,) = nvml.device_get_field_values(self._handle, [_LINK_COUNT])
        if found.nvml_return == _NOT_SUPPORTED:
            return 0
        return FieldValue(found).value

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """One of its NVLinks. Host only.

        Parameters
        ----------
        link
            Its number, below `get_nvlink_count`.

        Raises
        ------
        ValueError
            If there is no link of that number.
        """
        count = self.get_nvlink_count()
        number = integer(link, "link")
        text = f"Link index {number} is out of range [0, {count})"
        return NvlinkInfo(self, integer(number, "link", below=count, text=text))

    def get_nvlinks(self) -> "Iterator[NvlinkInfo]":
        """All its NVLinks. Host only."""
        for link in range(self.get_nvlink_count()):
            yield NvlinkInfo(self, link)


def _words():
    """Words of 64 bits with a bit for each processor of the machine."""
    return -(-(os.cpu_count() or 1) // 64)
