# SPDX-License-Identifier: Apache-2.0
"""Options of a pool of managed memory."""

from dataclasses import dataclass


@dataclass(slots=True, weakref_slot=True)
class ManagedMemoryResourceOptions:
    """Options of a new pool of `ManagedMemoryResource`.

    Host only.

    Parameters
    ----------
    preferred_location : int, optional
        A device ordinal or, depending on `preferred_location_type`, a NUMA node. Without a type,
        -1 is the host and None no preference.
    preferred_location_type : str or ManagedMemoryLocationType, optional
        ``"device"``, ``"host"`` or ``"host_numa"``.

    See Also
    --------
    cuMemPoolCreate : the driver function.
    """

    preferred_location: int | None = None
    preferred_location_type: str | None = None


ManagedMemoryResourceOptions.__module__ = "cuda.core"
