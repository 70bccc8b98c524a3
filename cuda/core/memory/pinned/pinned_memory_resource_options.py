# SPDX-License-Identifier: Apache-2.0
"""Options of a pool of page-locked host memory."""

from dataclasses import dataclass


@dataclass(slots=True, weakref_slot=True)
class PinnedMemoryResourceOptions:
    """Options of a new pool of `PinnedMemoryResource`.

    Host only.

    Parameters
    ----------
    ipc_enabled : bool
        Whether other processes can import the pool.
    max_size : int
        Maximum size of the pool in bytes, rounded up by the driver; 0 for no limit.
    numa_id : int, optional
        The NUMA node of the memory; None: the system chooses.

    See Also
    --------
    cuMemPoolCreate : the driver function.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


PinnedMemoryResourceOptions.__module__ = "cuda.core"
