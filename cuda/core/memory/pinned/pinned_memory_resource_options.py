# SPDX-License-Identifier: Apache-2.0
"""Options of a pool of page-locked host memory."""

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


PinnedMemoryResourceOptions.__module__ = "cuda.core"
