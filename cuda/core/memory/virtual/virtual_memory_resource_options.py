# SPDX-License-Identifier: Apache-2.0
"""How virtual memory is reserved, backed and shared."""

from collections.abc import Iterable
from dataclasses import dataclass

from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)


@dataclass
class VirtualMemoryResourceOptions:
    """Options of `VirtualMemoryResource`.

    Host only. Plain strings do for the enumerations.

    Parameters
    ----------
    allocation_type : str or VirtualMemoryAllocationType
        ``"pinned"``, or ``"managed"`` where the driver has it.
    location_type : str or VirtualMemoryLocationType
        ``"device"``, ``"host"``, ``"host_numa"`` or ``"host_numa_current"``.
    handle_type : str or VirtualMemoryHandleType, optional
        How the memory may be exported: ``"posix_fd"``, ``"fabric"``, ``"win32_kmt"`` or None.
        With location ``"host"`` the default means None: drivers export no such memory.
    granularity : str or VirtualMemoryGranularityType
        The unit that sizes are rounded up to: ``"minimum"`` or ``"recommended"``.
    gpu_direct_rdma : bool
        Whether other devices on the bus reach the memory.
    addr_hint : int, optional
        The address that is tried first; 0 or None for any.
    addr_align : int, optional
        What the address is a multiple of, in bytes; None for the granularity.
    peers : iterable of int
        The ordinals of other devices that use the memory.
    self_access : str or VirtualMemoryAccessType, optional
        What the owner may do: ``"rw"``, ``"r"``, or None for nothing.
    peer_access : str or VirtualMemoryAccessType, optional
        What the peers may do.

    See Also
    --------
    cuMemCreate, cuMemAddressReserve, cuMemSetAccess : the driver functions.
    """

    allocation_type: VirtualMemoryAllocationType = VirtualMemoryAllocationType.PINNED
    location_type: VirtualMemoryLocationType = VirtualMemoryLocationType.DEVICE
    handle_type: VirtualMemoryHandleType | None = VirtualMemoryHandleType.POSIX_FD
    granularity: VirtualMemoryGranularityType = VirtualMemoryGranularityType.RECOMMENDED
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = ()
    self_access: VirtualMemoryAccessType | None = VirtualMemoryAccessType.READ_WRITE
    peer_access: VirtualMemoryAccessType | None = VirtualMemoryAccessType.READ_WRITE


VirtualMemoryResourceOptions.__module__ = "cuda.core"
