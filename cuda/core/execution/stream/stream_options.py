# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a new stream."""

from dataclasses import dataclass


@dataclass
class StreamOptions:
    """Options of `Device.create_stream`.

    Host only.

    Parameters
    ----------
    nonblocking : bool
        Whether the stream runs beside the legacy default stream instead of in order with it.
    priority : int, optional
        Lower is more urgent; None asks for the least urgent priority of the context.

    See Also
    --------
    cuStreamCreateWithPriority : the driver function.
    """

    nonblocking: bool = True
    priority: int | None = None


StreamOptions.__module__ = "cuda.core"
