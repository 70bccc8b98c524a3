# SPDX-License-Identifier: Apache-2.0
"""LimitingMemoryResource: limits the bytes in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor, size_in_bytes
from cuda.core.memory.adaptors.out_of_memory import out_of_memory_error
from cuda.core.memory.adaptors.uninitialized import UninitializedMember

if TYPE_CHECKING:
    from cuda.core._core import MemoryResource

MAX_SIZE = (1 << 64) - 1  # largest size in bytes


class LimitingMemoryResource(MemoryResourceAdaptor):
    """Limits the bytes of an upstream resource that are in use.

    Host only. An allocation above the limit raises OutOfMemoryError without calling the upstream
    resource. Freed bytes count as free once the upstream resource has freed them.

    Parameters
    ----------
    mr : MemoryResource
        The upstream resource.
    limit : int
        Maximum size in bytes.

    Raises
    ------
    OverflowError
        If `limit` is negative.
    """

    _limit = UninitializedMember()

    def __init__(self, mr: MemoryResource, limit: SupportsIndex) -> None:
        super().__init__(mr)
        self._limit = size_in_bytes(limit, "limit")

    @property
    def limit(self) -> int:
        """Maximum of the bytes in use. Host only."""
        return self._limit

    def _allocate_upstream(self, size, stream):
        self._reserve(size, size)
        try:
            allocation = super()._allocate_upstream(size, stream)
        except BaseException:
            self._ledger.unreserve(size)
            raise
        try:
            self._reserve(max(0, allocation.size - size), size)  # upstream rounded up
        except BaseException:
            try:
                super()._free_upstream(allocation, stream)
            finally:
                self._ledger.unreserve(size)
            raise
        return allocation

    def _free_upstream(self, allocation, stream):
        try:
            super()._free_upstream(allocation, stream)
        finally:
            self._ledger.unreserve(max(allocation.size, allocation.requested))

    def _reserve(self, size, requested):
        if not self._ledger.reserve(size, min(self._limit, MAX_SIZE)):
            self._raise_out_of_memory(requested)

    def _raise_out_of_memory(self, size):
        used = self._ledger.reserved_bytes
        advice = "free buffers, raise the limit, or request less"
        if size > self._limit:
            advice = "the request exceeds the limit: raise it, or request less"
        raise out_of_memory_error(
            f"{size} bytes requested from a LimitingMemoryResource that has {used} of its limit of "
            f"{self._limit} bytes in use; {advice}",
            requested=size,
            device_id=device_of(self._upstream),
            used=used,
            peak=self._ledger.sums()[1],
            limit=self._limit,
        )


def device_of(resource):
    """Return the ordinal of the device of a resource; None without a device."""
    try:
        device = resource.device_id
    except RuntimeError:  # LegacyPinnedMemoryResource has no device
        return None
    return None if device < 0 else device
