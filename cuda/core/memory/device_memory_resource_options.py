# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a new pool of device memory."""

from dataclasses import dataclass


@dataclass
class DeviceMemoryResourceOptions:
    """Options of `DeviceMemoryResource`; giving them makes a pool of its own.

    Host only.

    Parameters
    ----------
    ipc_enabled : bool
        Whether other processes may import the memory.
    max_size : int
        The most that the pool may hold, in bytes, rounded up by the driver; 0 for no limit.

    See Also
    --------
    cuMemPoolCreate : the driver function.
    """

    ipc_enabled: bool = False
    max_size: int = 0


DeviceMemoryResourceOptions.__module__ = "cuda.core"
