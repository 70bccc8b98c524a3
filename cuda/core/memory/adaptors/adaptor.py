# SPDX-License-Identifier: Apache-2.0
"""What all adaptors share: they stand before another resource and hand its memory on."""

from operator import index

from cuda.core._core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    MemoryResource,
    Stream_accept,
)
from cuda.core._located_memory import _Ledger
from cuda.core.memory.adaptors.figures import combined, figures_of


class Taken:
    """Memory that was taken from upstream, until it goes back there."""

    __slots__ = ("address", "asked", "buffer", "size", "stack", "stream", "stream_handle", "time")

    def __init__(self, address, size, asked, stream, buffer=None):
        self.address = address
        self.size = size  # in bytes, as upstream gave it
        self.asked = asked  # in bytes, as it was asked for
        self.stream = stream
        self.buffer = buffer  # upstream's own, which knows its way back
        self.time = self.stack = self.stream_handle = None  # for who reports them


def size_in_bytes(given):
    """A size as an int; OverflowError below 0. Host only."""
    size = index(given)
    if size < 0:
        raise OverflowError(f"a size in bytes must not be negative, got {size}")
    return size


def handle_of(stream):
    """The address of a stream; 0 for none. Host only."""
    return 0 if stream is None else int(stream.handle)


def means_what_was_recorded(stream):
    """Whether a stream no longer says by itself where in its order a free is to be. Host only."""
    return stream.is_closed or stream == PER_THREAD_DEFAULT_STREAM


def stream_to_record(stream, resource):
    """The stream that a buffer records for its way back.

    A default stream means nothing without a context, which memory of the host need not have.
    """
    is_default = stream in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM)
    return stream if not is_default or resource.is_device_accessible else None


def is_memory_resource(given):
    """Whether it is one, or declares to be as good as one."""
    return isinstance(given, MemoryResource) or bool(
        getattr(given, "__cuda_core_memory_resource__", False)
    )


class MemoryResourceAdaptor(MemoryResource):
    """A memory resource that hands on what another one gives out.

    Its buffers have it as their `memory_resource`; they hold upstream's buffers, which go back in
    the order that upstream gives them. It does not own the other resource, and never closes it.
    """

    _hands_memory_on = True  # what a graph does with the memory is for upstream to say

    def __init__(self, mr):
        if not is_memory_resource(mr):
            raise TypeError(f"Expected type MemoryResource, got {type(mr).__name__}")
        self._upstream = mr
        self._ledger = _Ledger()
        self._is_closed = False

    def allocate(self, size, *, stream):
        """Take memory from upstream.

        Ordered as upstream's `allocate` is.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            The stream on which the memory may be used from here on.

        Returns
        -------
        Buffer
            Of the class that upstream gives.

        Raises
        ------
        RuntimeError
            If the resource is closed.
        """
        if self._is_closed:
            raise RuntimeError(f"{type(self).__name__} has been closed")
        stream = None if stream is None else Stream_accept(stream)
        return self._hand_on(self._take(size_in_bytes(size), stream))

    def deallocate(self, ptr, size, *, stream):
        """Give memory back to upstream; it works after `close` as well.

        Ordered as upstream's `deallocate` is.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            In bytes.
        stream : Stream
            The stream that orders the free.
        """
        taken = self._ledger.take(int(ptr), size)
        if taken is None:  # memory that somebody else wrapped
            self._upstream.deallocate(ptr, size, stream=stream)
        else:
            self._release(taken, stream)

    def _take(self, size, stream):
        """What upstream gives, as a `Taken`."""
        buffer = self._upstream.allocate(size, stream=stream)
        if not isinstance(buffer, Buffer):
            raise TypeError(
                f"{type(self._upstream).__name__}.allocate() must return a Buffer, got "
                f"{type(buffer).__name__}"
            )
        return Taken(buffer.handle, buffer.size, size, stream, buffer)

    def _release(self, taken, stream):
        """To upstream, which knows best what a stream meant that is closed, or is each thread's."""
        if stream is taken.stream and (stream is None or means_what_was_recorded(stream)):
            stream = None
        taken.buffer.close(stream)

    def _hand_on(self, taken):
        """A buffer over what upstream gave, whose way back is through this resource."""
        self._ledger.add(taken.address, taken.size, taken)
        try:
            return type(taken.buffer)._init(
                taken.address, taken.size, mr=self, stream=stream_to_record(taken.stream, self)
            )
        except BaseException:
            self.deallocate(taken.address, taken.size, stream=taken.stream)
            raise

    def close(self):
        """Refuse allocations from here on. Host only.

        Buffers stay valid, and go back as before; the other resource stays open. Closing twice is
        harmless.
        """
        self._is_closed = True

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return self._is_closed

    @property
    def upstream(self):
        """The resource that the memory comes from. Host only."""
        return self._upstream

    def statistics(self):
        """Counts of this resource; of the memory that is kept for reuse, those of upstream.

        Host only. Exact where no call is under way.

        Returns
        -------
        dict of str to int or float
            Sizes in bytes. ``allocated_bytes.*`` and ``allocation_count.*`` are of what came
            through this resource; the others are of the pool below, where there is one, and else
            tell that nothing is kept.
        """
        return combined(figures_of(self._ledger), self._upstream)

    @property
    def is_device_accessible(self):
        """Whether kernels may use the memory. Host only."""
        return self._upstream.is_device_accessible

    @property
    def is_host_accessible(self):
        """Whether the host may use the memory. Host only."""
        return self._upstream.is_host_accessible

    @property
    def is_managed(self):
        """Whether the memory moves between host and device by itself. Host only."""
        return self._upstream.is_managed

    @property
    def device_id(self):
        """The ordinal of the device that the memory belongs to; -1 for none. Host only."""
        return self._upstream.device_id

    def __repr__(self):
        state = " closed" if self._is_closed else ""
        return f"<{type(self).__name__} of {self._upstream!r}{state}>"
