# SPDX-License-Identifier: Apache-2.0
"""Options of a pool of device memory."""

from dataclasses import dataclass


@dataclass(slots=True, weakref_slot=True)
class DeviceMemoryResourceOptions:
    """Options of a new pool of `DeviceMemoryResource`.

    Host only.

    Parameters
    ----------
    ipc_enabled : bool
        Whether other processes can import the pool.
    max_size : int
        Maximum size of the pool in bytes, rounded up by the driver; 0 for no limit.

    See Also
    --------
    cuMemPoolCreate : the driver function.
    """

    ipc_enabled: bool = False
    max_size: int = 0


DeviceMemoryResourceOptions.__module__ = "cuda.core"
