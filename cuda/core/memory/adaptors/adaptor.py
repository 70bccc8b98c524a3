# SPDX-License-Identifier: Apache-2.0
"""MemoryResourceAdaptor: the base of the resources that wrap an upstream resource."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from cuda.core._core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    MemoryResource,
    Stream_accept,
    _allocate_from,
    _wrap_memory,
)
from cuda.core._located_memory import _Ledger
from cuda.core.arguments.shown import shown
from cuda.core.memory.adaptors.figures import combined, figures_of
from cuda.core.memory.adaptors.uninitialized import UninitializedMember

if TYPE_CHECKING:
    from cuda.core._core import Buffer, Stream
    from cuda.core.graph import GraphBuilder
    from cuda.core.typing import IsStreamType

    StreamLike = Stream | GraphBuilder | IsStreamType


class Allocation:
    """An allocation of the upstream resource that is in use."""

    __slots__ = (
        "address",
        "buffer",
        "requested",
        "size",
        "stack",
        "stream",
        "stream_handle",
        "time",
    )

    def __init__(self, address, size, requested, stream, buffer=None):
        self.address = address
        self.size = size  # size in bytes of the upstream allocation
        self.requested = requested  # size in bytes that the caller requested
        self.stream = stream
        self.buffer = buffer  # the upstream buffer, which knows how to free the memory
        self.time = self.stack = self.stream_handle = None  # set by adaptors that report them


def size_in_bytes(value, name="size"):
    """Return a size as an int; OverflowError if it is negative. Host only."""
    try:
        size = index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be a whole number of bytes, got {shown(value)} ({type(value).__name__})"
        ) from None
    if size < 0:
        raise OverflowError(f"{name} in bytes must not be negative, got {size}")
    return size


def handle_of(stream):
    """Return the address of a stream; 0 for None. Host only."""
    return 0 if stream is None else int(stream.handle)


def needs_recorded_order(stream):
    """Return whether only the recorded order identifies the stream of a free. Host only."""
    return stream.is_closed or stream == PER_THREAD_DEFAULT_STREAM


def stream_to_record(stream, resource):
    """Return the deallocation stream of a buffer.

    None replaces a default stream for host memory: it needs a context, which may not exist.
    """
    is_default = stream in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM)
    return stream if not is_default or resource.is_device_accessible else None


def is_memory_resource(value):
    """Return whether a value is a `MemoryResource` or declares its protocol."""
    return isinstance(value, MemoryResource) or bool(
        getattr(value, "__cuda_core_memory_resource__", False)
    )


class MemoryResourceAdaptor(MemoryResource):
    """A memory resource that allocates from an upstream resource.

    Its buffers have the adaptor as their `memory_resource`. Each holds an upstream buffer, which
    the upstream resource frees in its own order. An adaptor never closes the upstream resource.
    """

    _is_adaptor = True  # memory in graphs is handled by the upstream resource
    _upstream = _ledger = _is_closed = UninitializedMember()

    def __init__(self, mr: MemoryResource) -> None:
        if not is_memory_resource(mr):
            raise TypeError(
                f"Expected type MemoryResource, got {type(mr).__name__}: pass the upstream "
                f"resource of the {type(self).__name__}"
            )
        self._upstream = mr
        self._ledger = _Ledger()
        self._is_closed = False

    def allocate(self, size: SupportsIndex, *, stream: StreamLike | None) -> Buffer:
        """Allocate memory from the upstream resource.

        Ordered like the `allocate` of the upstream resource.

        Parameters
        ----------
        size : int
            Size in bytes.
        stream : Stream
            The stream that orders the allocation: its later work may use the memory.

        Returns
        -------
        Buffer
            A buffer of the class that the upstream resource returns.

        Raises
        ------
        RuntimeError
            If the resource is closed.
        """
        if self._is_closed:
            raise RuntimeError(f"{type(self).__name__} has been closed")
        stream = None if stream is None else Stream_accept(stream)
        return self._wrap(self._allocate_upstream(size_in_bytes(size), stream))

    def deallocate(
        self, ptr: SupportsIndex, size: SupportsIndex, *, stream: StreamLike | None
    ) -> None:
        """Free memory of the upstream resource.

        Ordered like the `deallocate` of the upstream resource. Also works after `close`.

        Parameters
        ----------
        ptr : int
            The address of the allocation.
        size : int
            Size in bytes.
        stream : Stream
            The stream that orders the deallocation.
        """
        allocation = self._ledger.remove(int(ptr), size)
        if allocation is None:  # other code wrapped this memory
            self._upstream.deallocate(ptr, size, stream=stream)
        else:
            self._free_upstream(allocation, stream)

    def _allocate_upstream(self, size, stream):
        """Allocate from the upstream resource and return an `Allocation`."""
        buffer = _allocate_from(self._upstream, size, stream)
        return Allocation(buffer.handle, buffer.size, size, stream, buffer)

    def _free_upstream(self, allocation, stream):
        """Close the upstream buffer, which resolves a recorded stream that is ambiguous now."""
        is_recorded = stream is not None and stream is allocation.stream
        if is_recorded and needs_recorded_order(stream):
            stream = None
        allocation.buffer.close(stream)

    def _wrap(self, allocation):
        """Return a buffer over an upstream allocation that this resource frees."""
        self._ledger.add(allocation.address, allocation.size, allocation)
        try:
            stream = stream_to_record(allocation.stream, self)
            cls = type(allocation.buffer)
            return _wrap_memory(cls, allocation.address, allocation.size, self, stream)
        except BaseException:
            self.deallocate(allocation.address, allocation.size, stream=allocation.stream)
            raise

    def close(self) -> None:
        """Reject further allocations. Host only.

        Buffers remain valid and are freed as before; the upstream resource stays open. Closing
        twice has no effect.
        """
        self._is_closed = True

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called. Host only."""
        return self._is_closed

    @property
    def upstream(self) -> MemoryResource:
        """The upstream resource. Host only."""
        return self._upstream

    def statistics(self) -> dict[str, float]:
        """Return the counts of this resource and the pool statistics of the upstream resource.

        Host only. Exact while no other call runs.

        Returns
        -------
        dict of str to int or float
            Sizes in bytes. ``allocated_bytes.*`` and ``allocation_count.*`` count the allocations
            of this resource. The others describe the upstream pool; without one they show that no
            free memory is cached.
        """
        return combined(figures_of(self._ledger), self._upstream)

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can access the memory. Host only."""
        return self._upstream.is_device_accessible

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory. Host only."""
        return self._upstream.is_host_accessible

    @property
    def is_managed(self) -> bool:
        """Whether the driver migrates the memory between host and device. Host only."""
        return self._upstream.is_managed

    @property
    def device_id(self) -> int:
        """The ordinal of the device that owns the memory; -1 for none. Host only."""
        return self._upstream.device_id

    def __repr__(self) -> str:
        state = " closed" if self._is_closed else ""
        return f"<{type(self).__name__} of {self._upstream!r}{state}>"
