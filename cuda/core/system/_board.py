# SPDX-License-Identifier: Apache-2.0
"""Properties of a board: PCI address, links, components and the InfoROM."""

import warnings

from cuda.core.system._numbers import INFOROM_OBJECT, integer
from cuda.core.system._nvml_context import nvml
from cuda.core.system._records import Hiding, OfDevice, Record, with_old_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import cuda.core.system
    from cuda.core.system.typing import InforomObject

_TX, _RX = 0, 1  # NVML_PCIE_UTIL_..._BYTES


@with_old_members(
    "get_current_pcie_link_generation()=current_link_generation "
    "get_current_pcie_link_width()=current_link_width "
    "get_gpu_max_pcie_link_generation()=max_link_generation "
    "get_max_pcie_link_generation()=link_generation get_max_pcie_link_width()=max_link_width "
    "get_pcie_replay_counter()=replay_counter get_pcie_throughput=rx_throughput",
    get_pcie_throughput=lambda info: (
        lambda counter: info.rx_throughput if int(counter) else info.tx_throughput
    ),
)
class PciInfo(OfDevice):
    """PCI properties of a device: address, identification and link speed."""

    __slots__ = ("_info",)

    def __init__(self, handle, info):
        self._handle = handle
        self._info = info

    def __repr__(self):
        return f"<PciInfo {self.bus_id}>"

    @property
    def domain(self) -> int:
        """Domain of the bus. Host only."""
        return self._info.domain

    @property
    def bus(self) -> int:
        """Number of the bus in its domain. Host only."""
        return self._info.bus

    @property
    def device(self) -> int:
        """Number of the device on the bus. Host only."""
        return self._info.device_

    @property
    def bus_id(self) -> str:
        """PCI address ``domain:bus:device.function`` in hexadecimal. Host only."""
        return self._info.bus_id

    @property
    def vendor_id(self) -> int:
        """PCI vendor id; NVIDIA's is 0x10DE. Host only."""
        return self._info.pci_device_id & 0xFFFF

    @property
    def device_id(self) -> int:
        """PCI device id of the chip. Host only."""
        return self._info.pci_device_id >> 16

    @property
    def subsystem_id(self) -> int:
        """PCI subsystem id of the board; the lower half is its vendor id. Host only."""
        return self._info.pci_sub_system_id

    @property
    def base_class(self) -> int:
        """PCI base class of the device; 3 is a display controller. Host only."""
        return self._info.base_class

    @property
    def sub_class(self) -> int:
        """PCI class within the base class. Host only."""
        return self._info.sub_class

    @property
    def link_generation(self) -> int:
        """Highest PCI Express generation that device and machine support. Host only."""
        return nvml.device_get_max_pcie_link_generation(self._handle)

    @property
    def max_link_generation(self) -> int:
        """Highest PCI Express generation that the device supports. Host only."""
        return nvml.device_get_gpu_max_pcie_link_generation(self._handle)

    @property
    def max_link_width(self) -> int:
        """Maximum number of lanes that device and machine support. Host only."""
        return nvml.device_get_max_pcie_link_width(self._handle)

    @property
    def current_link_generation(self) -> int:
        """Current PCI Express generation of the link. Host only."""
        return nvml.device_get_curr_pcie_link_generation(self._handle)

    @property
    def current_link_width(self) -> int:
        """Current number of lanes of the link. Host only."""
        return nvml.device_get_curr_pcie_link_width(self._handle)

    @property
    def rx_throughput(self) -> int:
        """Receive throughput in KB/s over 20 ms. Blocks the host that long."""
        return nvml.device_get_pcie_throughput(self._handle, _RX)

    @property
    def tx_throughput(self) -> int:
        """Transmit throughput in KB/s over 20 ms. Blocks the host that long."""
        return nvml.device_get_pcie_throughput(self._handle, _TX)

    @property
    def replay_counter(self) -> int:
        """Number of PCI Express replays after transmission errors. Host only."""
        return nvml.device_get_pcie_replay_counter(self._handle)


class _MaxLinks(Hiding):
    """A metaclass with the deprecated class attribute `max_links`."""

    @property
    def max_links(cls):
        warnings.warn(
            "NvlinkInfo.max_links is deprecated: use Device.get_nvlink_count()",
            DeprecationWarning,
            stacklevel=2,
        )
        return 18  # value from releases that had this attribute


class NvlinkInfo(OfDevice, metaclass=_MaxLinks):
    """An NVLink of a device, with the number `link`; each access queries the device."""

    __slots__ = ("_link",)

    def __init__(self, device: "cuda.core.system.Device", link: int):
        self._handle = device._handle
        self._link = integer(link, "link")

    def __repr__(self):
        return f"<NvlinkInfo {self._link}>"

    @property
    def version(self) -> tuple[int, int]:
        """Version of NVLink as (major, minor). Host only.

        Raises
        ------
        RuntimeError
            If NVML returns no version, or a version unknown to this release.
        """
        number = nvml.device_get_nvlink_version(self._handle, self._link)
        if number == 0:
            raise RuntimeError("Invalid NvLink version returned for device")
        for name, value in nvml.NvlinkVersion.__members__.items():
            if value == number and name[-3:-2].isdigit():
                return int(name[-3]), int(name[-1])
        raise RuntimeError(f"Unknown NvLink version {number} returned for device")

    @property
    def state(self) -> bool:
        """Whether the link is active. Host only."""
        return bool(nvml.device_get_nvlink_state(self._handle, self._link))


class DeviceAttributes(Record):
    """Resources of a device or MIG device."""

    __slots__ = ()

    @property
    def multiprocessor_count(self) -> int:
        """Number of multiprocessors. Host only."""
        return self._data.multiprocessor_count

    @property
    def shared_copy_engine_count(self) -> int:
        """Number of copy engines; MIG devices may share them. Host only."""
        return self._data.shared_copy_engine_count

    @property
    def shared_decoder_count(self) -> int:
        """Number of video decoders; MIG devices may share them. Host only."""
        return self._data.shared_decoder_count

    @property
    def shared_encoder_count(self) -> int:
        """Number of video encoders; MIG devices may share them. Host only."""
        return self._data.shared_encoder_count

    @property
    def shared_jpeg_count(self) -> int:
        """Number of JPEG decoders; MIG devices may share them. Host only."""
        return self._data.shared_jpeg_count

    @property
    def shared_ofa_count(self) -> int:
        """Number of optical flow units; MIG devices may share them. Host only."""
        return self._data.shared_ofa_count

    @property
    def gpu_instance_slice_count(self) -> int:
        """Number of memory slices. Host only."""
        return self._data.gpu_instance_slice_count

    @property
    def compute_instance_slice_count(self) -> int:
        """Number of compute slices. Host only."""
        return self._data.compute_instance_slice_count

    @property
    def memory_size_mb(self) -> int:
        """Memory size in MiB. Host only."""
        return self._data.memory_size_mb


class RepairStatus(Record):
    """Memory repairs that the next reset performs."""

    __slots__ = ()

    @property
    def channel_repair_pending(self) -> bool:
        """Whether a channel repair is pending. Host only."""
        return bool(self._data.b_channel_repair_pending)

    @property
    def tpc_repair_pending(self) -> bool:
        """Whether a repair of a multiprocessor cluster (TPC) is pending. Host only."""
        return bool(self._data.b_tpc_repair_pending)


class InforomInfo(OfDevice):
    """The InfoROM, a board's memory for its own data; each access queries the device."""

    __slots__ = ()

    def get_version(self, inforom: "InforomObject | str") -> str:
        """Return the version of an InfoROM object. Host only.

        Parameters
        ----------
        inforom
            The object.

        Raises
        ------
        ValueError
            If the object is unknown.
        NotSupportedError
            If the board does not have the object.
        """
        number = INFOROM_OBJECT.number(inforom)
        return nvml.device_get_inforom_version(self._handle, number)

    @property
    def image_version(self) -> str:
        """Version of the InfoROM image. Host only."""
        return nvml.device_get_inforom_image_version(self._handle)

    @property
    def configuration_checksum(self) -> int:
        """Checksum of the stored configuration. Host only."""
        return nvml.device_get_inforom_configuration_checksum(self._handle)

    def validate(self) -> None:
        """Check that the InfoROM is readable and its checksum is correct. Host only.

        Raises
        ------
        CorruptedInforomError
            If it is not.
        """
        nvml.device_validate_inforom(self._handle)

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """Time and duration of the last flush of the board's log. Host only.

        Both are in microseconds; the time counts from the Unix epoch.
        """
        return nvml.device_get_last_bbx_flush_time(self._handle)

    @property
    def board_part_number(self) -> str:
        """Part number of the board. Host only."""
        return nvml.device_get_board_part_number(self._handle)


class MigInfo(OfDevice):
    """The MIG devices into which a device is partitioned."""

    __slots__ = ("_device_of",)

    def __init__(self, device: "cuda.core.system.Device"):
        self._handle = device._handle
        self._device_of = type(device)._of

    @property
    def is_mig_device(self) -> bool:
        """Whether the device is a MIG device. Host only."""
        return bool(nvml.device_is_mig_device_handle(self._handle))

    @property
    def mode(self) -> bool:
        """Whether MIG mode is enabled; settable.

        Host only. Setting it requires administrator rights. Some devices apply the new value at
        the next reset only; until then `pending_mode` returns it.
        """
        return bool(nvml.device_get_mig_mode(self._handle)[0])

    @mode.setter
    def mode(self, mode: bool) -> None:
        nvml.check_status(nvml.device_set_mig_mode(self._handle, bool(mode)))

    @property
    def pending_mode(self) -> bool:
        """Whether MIG mode is enabled after the next reset. Host only."""
        return bool(nvml.device_get_mig_mode(self._handle)[1])

    @property
    def device_count(self) -> int:
        """Maximum number of MIG devices. Host only."""
        return nvml.device_get_max_mig_device_count(self._handle)

    @property
    def parent(self) -> "cuda.core.system.Device":
        """Parent device of this MIG device. Host only."""
        return self._device_of(nvml.device_get_device_handle_from_mig_device_handle(self._handle))

    def get_device_by_index(self, index: int) -> "cuda.core.system.Device":
        """Return a MIG device by its index. Host only.

        Parameters
        ----------
        index
            The index, below `device_count`; indices can have gaps.

        Raises
        ------
        NotFoundError
            If no MIG device has the index.
        NotSupportedError
            If the device does not support MIG.
        """
        number = integer(index, "index")
        return self._device_of(nvml.device_get_mig_device_handle_by_index(self._handle, number))

    def get_all_devices(self) -> "Iterator[cuda.core.system.Device]":
        """Iterate over all existing MIG devices. Host only."""
        for index in range(self.device_count):
            try:
                part = self.get_device_by_index(index)
            except nvml.NotFoundError:
                continue  # indices have gaps
            yield part


class ProcessInfo(Record):
    """A process that uses a device."""

    __slots__ = ("_is_part",)

    def __init__(self, device, data):
        super().__init__(data)
        self._is_part = MigInfo(device).is_mig_device

    def __repr__(self):
        return f"<ProcessInfo pid={self.pid} used_gpu_memory={self.used_gpu_memory}>"

    @property
    def pid(self) -> int:
        """Id of the process. Host only."""
        return self._data.pid

    @property
    def used_gpu_memory(self) -> int:
        """Device memory of the process in bytes. Host only."""
        return self._data.used_gpu_memory

    @property
    def gpu_instance_id(self) -> int:
        """GPU instance of the process on a MIG device. Host only."""
        return self._of_part(self._data.gpu_instance_id)

    @property
    def compute_instance_id(self) -> int:
        """Compute instance of the process on a MIG device. Host only."""
        return self._of_part(self._data.compute_instance_id)

    def _of_part(self, number):
        if not self._is_part:
            raise nvml.NotSupportedError(3)
        return number
