# SPDX-License-Identifier: Apache-2.0
"""CallbackMemoryResource: memory that two functions give and take."""

from operator import index

from cuda.core._core import Buffer, MemoryResource, Stream_accept
from cuda.core._located_memory import _Ledger
from cuda.core.memory.adaptors.adaptor import Taken, size_in_bytes, stream_to_record
from cuda.core.memory.adaptors.figures import figures_of
from cuda.core.memory.adaptors.out_of_memory import out_of_memory_error


class CallbackMemoryResource(MemoryResource):
    """Memory that two functions give and take.

    Host only.

    Parameters
    ----------
    alloc : callable
        ``alloc(size, stream)`` gives the address of so many bytes as an int; what it raises goes
        to the caller of `allocate`. The address 0 for more than 0 bytes means that there is none.
    free : callable
        ``free(ptr, size, stream)`` takes them back. It must not raise.
    is_device_accessible, is_host_accessible : bool
        Whether kernels, and whether the host, may use the memory.
    device_id : int
        The ordinal of the device that the memory belongs to; -1 for none.
    """

    upstream = None  # the memory comes from no other resource

    def __init__(
        self, alloc, free, *, is_device_accessible=True, is_host_accessible=False, device_id=-1
    ):
        for name, function in (("alloc", alloc), ("free", free)):
            if not callable(function):
                raise TypeError(f"{name} must be callable, got {type(function).__name__}")
        self._alloc, self._free = alloc, free
        self._flags = bool(is_device_accessible), bool(is_host_accessible)
        self._device_id = index(device_id)
        self._ledger = _Ledger()
        self._is_closed = False

    def allocate(self, size, *, stream):
        """Take memory from ``alloc``.

        Ordered as ``alloc`` does it.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            The stream on which the memory may be used from here on; None where only the host uses
            it.

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
        self._ledger.add(address, size, Taken(address, size, size, stream))
        try:
            return Buffer.from_handle(address, size, mr=self, stream=stream_to_record(stream, self))
        except BaseException:
            self.deallocate(address, size, stream=stream)
            raise

    def _address(self, given, size):
        try:
            address = index(given)
        except TypeError:
            raise TypeError(
                "alloc() of a CallbackMemoryResource must return an address as an int, got "
                f"{type(given).__name__}"
            ) from None
        if not 0 <= address < 1 << 64:
            raise OverflowError(f"alloc() returned {address}, which is no address of 64 bits")
        if address == 0 and size:
            device = None if self._device_id < 0 else self._device_id
            used, peak, *_ = self._ledger.sums()
            raise out_of_memory_error(
                f"alloc() of a CallbackMemoryResource returned 0 for {size} bytes; free buffers, "
                "or ask for less",
                requested=size,
                device_id=device,
                used=used,
                peak=peak,
            )
        return address

    def deallocate(self, ptr, size, *, stream):
        """Give memory back with ``free``; it works after `close` as well.

        Ordered as ``free`` does it.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            In bytes.
        stream : Stream
            The stream that orders the free.
        """
        self._ledger.take(int(ptr), size)
        self._free(ptr, size, stream)

    def close(self):
        """Refuse allocations from here on; buffers go back as before. Host only."""
        self._is_closed = True

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return self._is_closed

    def statistics(self):
        """Counts of what the functions gave and took, as of the adaptors. Host only."""
        return figures_of(self._ledger)

    @property
    def is_device_accessible(self):
        """Whether kernels may use the memory. Host only."""
        return self._flags[0]

    @property
    def is_host_accessible(self):
        """Whether the host may use the memory. Host only."""
        return self._flags[1]

    @property
    def device_id(self):
        """The ordinal of the device that the memory belongs to; -1 for none. Host only."""
        return self._device_id

    def __repr__(self):
        state = " closed" if self._is_closed else ""
        return f"<CallbackMemoryResource device={self._device_id}{state}>"
