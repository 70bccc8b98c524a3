# SPDX-License-Identifier: Apache-2.0
"""How a copy is to be made."""

from dataclasses import dataclass
from enum import StrEnum


class MemcpySrcAccessOrder(StrEnum):
    """When a copy may read its source."""

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


class MemcpyOverlapMode(StrEnum):
    """Whether a copy gives way to kernels."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


def _member(enum, given, name):
    try:
        return enum(given)
    except ValueError:
        accepted = ", ".join(repr(str(each)) for each in enum)
        raise ValueError(f"invalid {name}: {given!r} (accepted: {accepted})") from None


@dataclass(frozen=True)
class CopyOptions:
    """How a copy is to be made.

    Host only. The hints matter for managed memory only.

    Parameters
    ----------
    src_access_order : str or MemcpySrcAccessOrder
        ``"stream"``: the source is read in the order of the stream; ``"during_api_call"``: before
        the call returns; ``"any"``: at any time.
    src_location_hint, dst_location_hint : Device or Host, optional
        Where the source and the destination lie.
    overlap_mode : str or MemcpyOverlapMode
        ``"default"``, or ``"prefer_overlap_with_compute"``.

    See Also
    --------
    cuMemcpyWithAttributesAsync, cuMemcpyBatchAsync : the driver functions.
    """

    src_access_order: MemcpySrcAccessOrder = MemcpySrcAccessOrder.STREAM
    src_location_hint: object = None
    dst_location_hint: object = None
    overlap_mode: MemcpyOverlapMode = MemcpyOverlapMode.DEFAULT

    def __post_init__(self):
        order = _member(MemcpySrcAccessOrder, self.src_access_order, "src_access_order")
        mode = _member(MemcpyOverlapMode, self.overlap_mode, "overlap_mode")
        object.__setattr__(self, "src_access_order", order)
        object.__setattr__(self, "overlap_mode", mode)


for _class in (CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder):
    _class.__module__ = "cuda.core.utils"
del _class
