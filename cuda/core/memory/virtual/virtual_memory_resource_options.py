# SPDX-License-Identifier: Apache-2.0
"""VirtualMemoryResourceOptions: address range, memory and access of virtual memory."""

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

    Host only. The enumerations also accept plain strings.

    Parameters
    ----------
    allocation_type : str or VirtualMemoryAllocationType
        ``"pinned"``, or ``"managed"`` if the driver supports it.
    location_type : str or VirtualMemoryLocationType
        ``"device"``, ``"host"``, ``"host_numa"`` or ``"host_numa_current"``.
    handle_type : str or VirtualMemoryHandleType, optional
        Handle type for exporting: ``"posix_fd"``, ``"fabric"``, ``"win32_kmt"`` or None. With
        location ``"host"`` the default means None, since drivers cannot export such memory.
    granularity : str or VirtualMemoryGranularityType
        Granularity to which sizes are rounded up: ``"minimum"`` or ``"recommended"``.
    gpu_direct_rdma : bool
        Whether other PCIe devices can access the memory.
    addr_hint : int, optional
        The preferred address; 0 or None for any.
    addr_align : int, optional
        Alignment of the address in bytes; None for the granularity.
    peers : iterable of int
        Ordinals of other devices that access the memory.
    self_access : str or VirtualMemoryAccessType, optional
        Access of the owner: ``"rw"``, ``"r"``, or None for none.
    peer_access : str or VirtualMemoryAccessType, optional
        Access of the peers.

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
