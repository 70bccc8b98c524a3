# SPDX-License-Identifier: Apache-2.0
"""LimitingMemoryResource: lets no more than so many bytes be in use."""

from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor, size_in_bytes
from cuda.core.memory.adaptors.out_of_memory import out_of_memory_error

MOST = (1 << 64) - 1  # bytes that a size can say


class LimitingMemoryResource(MemoryResourceAdaptor):
    """Lets no more than so many bytes of another resource be in use.

    Host only. An allocation above that raises OutOfMemoryError and asks nothing of the other
    resource. A free counts from when upstream has taken it.

    Parameters
    ----------
    mr : MemoryResource
        The resource that the memory comes from.
    limit : int
        In bytes.

    Raises
    ------
    OverflowError
        If `limit` is negative.
    """

    def __init__(self, mr, limit):
        super().__init__(mr)
        self._limit = size_in_bytes(limit)

    @property
    def limit(self):
        """The most that may be in use, in bytes. Host only."""
        return self._limit

    def _take(self, size, stream):
        self._reserve(size, size)
        try:
            taken = super()._take(size, stream)
        except BaseException:
            self._ledger.release(size)
            raise
        try:
            self._reserve(max(0, taken.size - size), size)  # what upstream rounds up
        except BaseException:
            try:
                super()._release(taken, stream)
            finally:
                self._ledger.release(size)
            raise
        return taken

    def _release(self, taken, stream):
        try:
            super()._release(taken, stream)
        finally:
            self._ledger.release(max(taken.size, taken.asked))

    def _reserve(self, more, asked):
        if not self._ledger.reserve(more, min(self._limit, MOST)):
            self._refuse(asked)

    def _refuse(self, asked):
        used = self._ledger.shares
        raise out_of_memory_error(
            f"{asked} bytes asked of a LimitingMemoryResource that has {used} of its limit of "
            f"{self._limit} bytes in use; free buffers, raise the limit, or ask for less",
            requested=asked,
            device_id=device_of(self._upstream),
            used=used,
            peak=self._ledger.sums()[1],
            limit=self._limit,
        )


def device_of(resource):
    """The device of a resource's memory; None for that of no device."""
    try:
        device = resource.device_id
    except RuntimeError:  # page-locked memory of old has none
        return None
    return None if device < 0 else device
