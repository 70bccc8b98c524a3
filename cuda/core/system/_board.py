# SPDX-License-Identifier: Apache-2.0
"""What a board is: its place on the bus, its links, its parts, and what it keeps of itself."""

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
    """A device on the PCI bus: what it is there, and how fast its link is."""

    __slots__ = ("_info",)

    def __init__(self, handle, info):
        self._handle = handle
        self._info = info

    def __repr__(self):
        return f"<PciInfo {self.bus_id}>"

    @property
    def domain(self) -> int:
        """The domain of the bus. Host only."""
        return self._info.domain

    @property
    def bus(self) -> int:
        """The number of the bus in its domain. Host only."""
        return self._info.bus

    @property
    def device(self) -> int:
        """The number of the device at the bus. Host only."""
        return self._info.device_

    @property
    def bus_id(self) -> str:
        """The whole address: ``domain:bus:device.function``, in hexadecimal. Host only."""
        return self._info.bus_id

    @property
    def vendor_id(self) -> int:
        """The maker's number; NVIDIA's is 0x10DE. Host only."""
        return self._info.pci_device_id & 0xFFFF

    @property
    def device_id(self) -> int:
        """The maker's number of the chip. Host only."""
        return self._info.pci_device_id >> 16

    @property
    def subsystem_id(self) -> int:
        """The number of the board, with its maker's in the lower half. Host only."""
        return self._info.pci_sub_system_id

    @property
    def base_class(self) -> int:
        """The class of the device; 3 is a display controller. Host only."""
        return self._info.base_class

    @property
    def sub_class(self) -> int:
        """The class within the base class. Host only."""
        return self._info.sub_class

    @property
    def link_generation(self) -> int:
        """The highest generation of PCI Express that device and machine have. Host only."""
        return nvml.device_get_max_pcie_link_generation(self._handle)

    @property
    def max_link_generation(self) -> int:
        """The highest generation of PCI Express that the device has. Host only."""
        return nvml.device_get_gpu_max_pcie_link_generation(self._handle)

    @property
    def max_link_width(self) -> int:
        """The most lanes that device and machine have. Host only."""
        return nvml.device_get_max_pcie_link_width(self._handle)

    @property
    def current_link_generation(self) -> int:
        """The generation of PCI Express that is used now. Host only."""
        return nvml.device_get_curr_pcie_link_generation(self._handle)

    @property
    def current_link_width(self) -> int:
        """The lanes that are used now. Host only."""
        return nvml.device_get_curr_pcie_link_width(self._handle)

    @property
    def rx_throughput(self) -> int:
        """What the device receives, in KB/s over the last 20 ms. Blocks the host that long."""
        return nvml.device_get_pcie_throughput(self._handle, _RX)

    @property
    def tx_throughput(self) -> int:
        """What the device sends, in KB/s over the last 20 ms. Blocks the host that long."""
        return nvml.device_get_pcie_throughput(self._handle, _TX)

    @property
    def replay_counter(self) -> int:
        """How often something was sent again because it came with errors. Host only."""
        return nvml.device_get_pcie_replay_counter(self._handle)


class _MaxLinks(Hiding):
    """Has the class attribute `max_links`, which is deprecated."""

    @property
    def max_links(cls):
        warnings.warn(
            "NvlinkInfo.max_links is deprecated: use Device.get_nvlink_count()",
            DeprecationWarning,
            stacklevel=2,
        )
        return 18  # what it was when this was in use


class NvlinkInfo(OfDevice, metaclass=_MaxLinks):
    """One NVLink of a device, by the number `link`; each question asks the device."""

    __slots__ = ("_link",)

    def __init__(self, device: "cuda.core.system.Device", link: int):
        self._handle = device._handle
        self._link = integer(link, "link")

    def __repr__(self):
        return f"<NvlinkInfo {self._link}>"

    @property
    def version(self) -> tuple[int, int]:
        """The version of NVLink, as (major, minor). Host only.

        Raises
        ------
        RuntimeError
            If NVML's answer is no version, or one that this release does not know.
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
        """Whether the link works. Host only."""
        return bool(nvml.device_get_nvlink_state(self._handle, self._link))


class DeviceAttributes(Record):
    """What a device, or a part of one, is made of."""

    __slots__ = ()

    @property
    def multiprocessor_count(self) -> int:
        """How many multiprocessors. Host only."""
        return self._data.multiprocessor_count

    @property
    def shared_copy_engine_count(self) -> int:
        """How many copy engines, perhaps shared with other parts. Host only."""
        return self._data.shared_copy_engine_count

    @property
    def shared_decoder_count(self) -> int:
        """How many video decoders, perhaps shared with other parts. Host only."""
        return self._data.shared_decoder_count

    @property
    def shared_encoder_count(self) -> int:
        """How many video encoders, perhaps shared with other parts. Host only."""
        return self._data.shared_encoder_count

    @property
    def shared_jpeg_count(self) -> int:
        """How many JPEG decoders, perhaps shared with other parts. Host only."""
        return self._data.shared_jpeg_count

    @property
    def shared_ofa_count(self) -> int:
        """How many optical flow units, perhaps shared with other parts. Host only."""
        return self._data.shared_ofa_count

    @property
    def gpu_instance_slice_count(self) -> int:
        """How many slices of the memory. Host only."""
        return self._data.gpu_instance_slice_count

    @property
    def compute_instance_slice_count(self) -> int:
        """How many slices of the multiprocessors. Host only."""
        return self._data.compute_instance_slice_count

    @property
    def memory_size_mb(self) -> int:
        """How much memory, in MiB. Host only."""
        return self._data.memory_size_mb


class RepairStatus(Record):
    """What of the memory is to be repaired at the next reset."""

    __slots__ = ()

    @property
    def channel_repair_pending(self) -> bool:
        """Whether a channel is. Host only."""
        return bool(self._data.b_channel_repair_pending)

    @property
    def tpc_repair_pending(self) -> bool:
        """Whether a cluster of multiprocessors is. Host only."""
        return bool(self._data.b_tpc_repair_pending)


class InforomInfo(OfDevice):
    """The memory in which a board keeps what it knows of itself; each question asks the device."""

    __slots__ = ()

    def get_version(self, inforom: "InforomObject | str") -> str:
        """The version of one part of it. Host only.

        Parameters
        ----------
        inforom
            The part.

        Raises
        ------
        ValueError
            For another part.
        NotSupportedError
            If the board does not have it.
        """
        number = INFOROM_OBJECT.number(inforom)
        return nvml.device_get_inforom_version(self._handle, number)

    @property
    def image_version(self) -> str:
        """The version of the whole. Host only."""
        return nvml.device_get_inforom_image_version(self._handle)

    @property
    def configuration_checksum(self) -> int:
        """A checksum of the configuration that is kept there. Host only."""
        return nvml.device_get_inforom_configuration_checksum(self._handle)

    def validate(self) -> None:
        """See that all of it can be read and has the right checksum. Host only.

        Raises
        ------
        CorruptedInforomError
            If it has not.
        """
        nvml.device_validate_inforom(self._handle)

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """When the log of the board was last written, and how long that took. Host only.

        In microseconds: since the beginning of 1970, and of duration.
        """
        return nvml.device_get_last_bbx_flush_time(self._handle)

    @property
    def board_part_number(self) -> str:
        """The part number of the board. Host only."""
        return nvml.device_get_board_part_number(self._handle)


class MigInfo(OfDevice):
    """The parts (MIG devices) that a device is divided into."""

    __slots__ = ("_device_of",)

    def __init__(self, device: "cuda.core.system.Device"):
        self._handle = device._handle
        self._device_of = type(device)._of

    @property
    def is_mig_device(self) -> bool:
        """Whether the device is such a part itself. Host only."""
        return bool(nvml.device_is_mig_device_handle(self._handle))

    @property
    def mode(self) -> bool:
        """Whether the device can be divided now; may be set.

        Host only. To set it needs the rights of an administrator, and perhaps a reset of the
        device, until when `pending_mode` has the new value.
        """
        return bool(nvml.device_get_mig_mode(self._handle)[0])

    @mode.setter
    def mode(self, mode: bool) -> None:
        nvml.check_status(nvml.device_set_mig_mode(self._handle, bool(mode)))

    @property
    def pending_mode(self) -> bool:
        """Whether the device can be divided after the next reset. Host only."""
        return bool(nvml.device_get_mig_mode(self._handle)[1])

    @property
    def device_count(self) -> int:
        """How many parts there can be at most. Host only."""
        return nvml.device_get_max_mig_device_count(self._handle)

    @property
    def parent(self) -> "cuda.core.system.Device":
        """The device that this one is a part of. Host only."""
        return self._device_of(nvml.device_get_device_handle_from_mig_device_handle(self._handle))

    def get_device_by_index(self, index: int) -> "cuda.core.system.Device":
        """One of the parts. Host only.

        Parameters
        ----------
        index
            Its number, below `device_count`; not every number has a part.

        Raises
        ------
        NotFoundError
            If there is no part of that number.
        NotSupportedError
            If the device cannot be divided.
        """
        number = integer(index, "index")
        return self._device_of(nvml.device_get_mig_device_handle_by_index(self._handle, number))

    def get_all_devices(self) -> "Iterator[cuda.core.system.Device]":
        """All parts that there are. Host only."""
        for index in range(self.device_count):
            try:
                part = self.get_device_by_index(index)
            except nvml.NotFoundError:
                continue  # numbers have gaps
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
        """The process. Host only."""
        return self._data.pid

    @property
    def used_gpu_memory(self) -> int:
        """The memory of the device that it has, in bytes. Host only."""
        return self._data.used_gpu_memory

    @property
    def gpu_instance_id(self) -> int:
        """The part of the memory that it runs on, of a MIG device. Host only."""
        return self._of_part(self._data.gpu_instance_id)

    @property
    def compute_instance_id(self) -> int:
        """The part of the multiprocessors that it runs on, of a MIG device. Host only."""
        return self._of_part(self._data.compute_instance_id)

    def _of_part(self, number):
        if not self._is_part:
            raise nvml.NotSupportedError(3)
        return number
