# SPDX-License-Identifier: Apache-2.0
"""Options of new streams."""

from dataclasses import dataclass


@dataclass(slots=True, weakref_slot=True)
class StreamOptions:
    """Options of `Device.create_stream`.

    Host only.

    Parameters
    ----------
    nonblocking : bool
        Whether the stream does not synchronize with the legacy default stream.
    priority : int, optional
        Priority of the stream; lower numbers are more urgent. None means the least urgent priority
        of the context.

    See Also
    --------
    cuStreamCreateWithPriority : the driver function.
    """

    nonblocking: bool = True
    priority: int | None = None


StreamOptions.__module__ = "cuda.core"
