# SPDX-License-Identifier: Apache-2.0
"""What may be asked of new pools of host memory and of managed memory."""

from dataclasses import dataclass


@dataclass
class PinnedMemoryResourceOptions:
    """Options of `PinnedMemoryResource`; giving them makes a pool of its own.

    Host only.

    Parameters
    ----------
    ipc_enabled : bool
        Whether other processes may import the memory.
    max_size : int
        The most that the pool may hold, in bytes, rounded up by the driver; 0 for no limit.
    numa_id : int, optional
        The NUMA node that the memory lies on; None leaves it to the system.

    See Also
    --------
    cuMemPoolCreate : the driver function.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


@dataclass
class ManagedMemoryResourceOptions:
    """Options of `ManagedMemoryResource`; giving them makes a pool of its own.

    Host only.

    Parameters
    ----------
    preferred_location : int, optional
        The ordinal of a device or, by `preferred_location_type`, the number of a NUMA node. Without
        a type, -1 is the host and None no preference.
    preferred_location_type : str or ManagedMemoryLocationType, optional
        ``"device"``, ``"host"`` or ``"host_numa"``.

    See Also
    --------
    cuMemPoolCreate : the driver function.
    """

    preferred_location: int | None = None
    preferred_location_type: str | None = None


PinnedMemoryResourceOptions.__module__ = "cuda.core"
ManagedMemoryResourceOptions.__module__ = "cuda.core"
