# SPDX-License-Identifier: Apache-2.0
"""CopyOptions and its enumerations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from cuda.core.arguments.shown import shown

if TYPE_CHECKING:
    from cuda.core._core import Device
    from cuda.core.memory.host import Host


class MemcpySrcAccessOrder(StrEnum):
    """The time at which a copy may read its source."""

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


class MemcpyOverlapMode(StrEnum):
    """Whether a copy should overlap with kernels."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


SrcAccessOrder = MemcpySrcAccessOrder | Literal["stream", "during_api_call", "any"]
OverlapMode = MemcpyOverlapMode | Literal["default", "prefer_overlap_with_compute"]


def _member(enum, value, name):
    try:
        return enum(value)
    except ValueError:
        accepted = ", ".join(repr(str(each)) for each in enum)
        raise ValueError(f"invalid {name}: {shown(value)} (accepted: {accepted})") from None


@dataclass(frozen=True)
class CopyOptions:
    """Options of a copy.

    Host only. The hints have an effect only on managed memory.

    Parameters
    ----------
    src_access_order : str or MemcpySrcAccessOrder
        ``"stream"``: the copy reads the source in stream order; ``"during_api_call"``: before the
        call returns; ``"any"``: at any time.
    src_location_hint, dst_location_hint : Device or Host, optional
        Locations of the source and of the destination.
    overlap_mode : str or MemcpyOverlapMode
        ``"default"``, or ``"prefer_overlap_with_compute"``.

    See Also
    --------
    cuMemcpyWithAttributesAsync, cuMemcpyBatchAsync : the driver functions.
    """

    src_access_order: SrcAccessOrder = MemcpySrcAccessOrder.STREAM
    src_location_hint: Device | Host | None = None
    dst_location_hint: Device | Host | None = None
    overlap_mode: OverlapMode = MemcpyOverlapMode.DEFAULT

    def __post_init__(self):
        order = _member(MemcpySrcAccessOrder, self.src_access_order, "src_access_order")
        mode = _member(MemcpyOverlapMode, self.overlap_mode, "overlap_mode")
        object.__setattr__(self, "src_access_order", order)
        object.__setattr__(self, "overlap_mode", mode)


for _class in (CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder):
    _class.__module__ = "cuda.core.utils"
del _class
