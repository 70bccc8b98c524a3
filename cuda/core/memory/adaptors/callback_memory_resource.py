# SPDX-License-Identifier: Apache-2.0
"""CallbackMemoryResource: memory that two user functions allocate and free."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

from cuda.core._core import Buffer, MemoryResource, Stream_accept
from cuda.core._located_memory import _Ledger
from cuda.core.memory.adaptors.adaptor import Allocation, size_in_bytes, stream_to_record
from cuda.core.memory.adaptors.figures import figures_of
from cuda.core.memory.adaptors.out_of_memory import out_of_memory_error
from cuda.core.memory.adaptors.uninitialized import UninitializedMember

if TYPE_CHECKING:
    from cuda.core.memory.adaptors.adaptor import StreamLike


class CallbackMemoryResource(MemoryResource):
    """Memory that two user functions allocate and free.

    Host only.

    Parameters
    ----------
    alloc : callable
        ``alloc(size, stream)`` allocates `size` bytes and returns the address as an int. Its
        exceptions propagate from `allocate`. Address 0 for a size above 0 means out of memory.
    free : callable
        ``free(ptr, size, stream)`` frees the memory. It must not raise.
    is_device_accessible, is_host_accessible : bool
        Whether kernels, and whether the host, can access the memory.
    device_id : int
        The ordinal of the device that owns the memory; -1 for none.
    """

    upstream = None  # there is no upstream resource
    _alloc = _free = _flags = _device_id = _ledger = _is_closed = UninitializedMember()

    def __init__(
        self,
        alloc: Callable[[int, Any], SupportsIndex],
        free: Callable[[int, int, Any], object],
        *,
        is_device_accessible: bool = True,
        is_host_accessible: bool = False,
        device_id: SupportsIndex = -1,
    ) -> None:
        for name, function in (("alloc", alloc), ("free", free)):
            if not callable(function):
                raise TypeError(f"{name} must be callable, got {type(function).__name__}")
        self._alloc, self._free = alloc, free
        self._flags = bool(is_device_accessible), bool(is_host_accessible)
        self._device_id = index(device_id)
        self._ledger = _Ledger()
        self._is_closed = False

    def allocate(self, size: SupportsIndex, *, stream: StreamLike | None) -> Buffer:
        """Allocate memory with ``alloc``.

        Ordered as ``alloc`` orders it.

        Parameters
        ----------
        size : int
            Size in bytes.
        stream : Stream
            The stream that orders the allocation: its later work may use the memory. None if only
            the host uses it.

        Returns
        -------
        Buffer

        Raises
        ------
        TypeError
            If ``alloc`` returns no int.
        OutOfMemoryError
            If it returns 0 for more than 0 bytes.
        RuntimeError
            If the resource is closed.
        """
        if self._is_closed:
            raise RuntimeError("CallbackMemoryResource has been closed")
        if stream is not None or self.is_device_accessible:
            stream = Stream_accept(stream)
        size = size_in_bytes(size)
        address = self._address(self._alloc(size, stream), size)
        self._ledger.add(address, size, Allocation(address, size, size, stream))
        try:
            return Buffer.from_handle(address, size, mr=self, stream=stream_to_record(stream, self))
        except BaseException:
            self.deallocate(address, size, stream=stream)
            raise

    def _address(self, value, size):
        try:
            address = index(value)
        except TypeError:
            raise TypeError(
                "alloc() of a CallbackMemoryResource must return an address as an int, got "
                f"{type(value).__name__}"
            ) from None
        if not 0 <= address < 1 << 64:
            raise OverflowError(f"alloc() returned {address}, which is not a 64-bit address")
        if address == 0 and size:
            device = None if self._device_id < 0 else self._device_id
            used, peak, *_ = self._ledger.sums()
            raise out_of_memory_error(
                f"alloc() of a CallbackMemoryResource returned 0 for {size} bytes; free buffers, "
                "or request less",
                requested=size,
                device_id=device,
                used=used,
                peak=peak,
            )
        return address

    def deallocate(
        self, ptr: SupportsIndex, size: SupportsIndex, *, stream: StreamLike | None
    ) -> None:
        """Free memory with ``free``.

        Ordered as ``free`` orders it. Also works after `close`.

        Parameters
        ----------
        ptr : int
            The address of the allocation.
        size : int
            Size in bytes.
        stream : Stream
            The stream that orders the deallocation.
        """
        self._ledger.remove(int(ptr), size)
        self._free(ptr, size, stream)

    def close(self) -> None:
        """Reject further allocations; buffers are freed as before. Host only."""
        self._is_closed = True

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called. Host only."""
        return self._is_closed

    def statistics(self) -> dict[str, float]:
        """Return the counts of allocations and frees, in the form of the adaptors. Host only."""
        return figures_of(self._ledger)

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can access the memory. Host only."""
        return self._flags[0]

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory. Host only."""
        return self._flags[1]

    @property
    def device_id(self) -> int:
        """The ordinal of the device that owns the memory; -1 for none. Host only."""
        return self._device_id

    def __repr__(self) -> str:
        state = " closed" if self._is_closed else ""
        return f"<CallbackMemoryResource device={self._device_id}{state}>"
