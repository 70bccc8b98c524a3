# SPDX-License-Identifier: Apache-2.0
"""Options of a pool of managed memory."""

from dataclasses import dataclass


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


ManagedMemoryResourceOptions.__module__ = "cuda.core"
