# SPDX-License-Identifier: Apache-2.0
# MemoryResource: the protocol of what gives and takes memory.

NOT_GIVEN = object()


cdef Stream stream_or_default(object given, str call):
    if given is NOT_GIVEN:
        warn_deprecated(f"{call} without a stream", "stream=device.default_stream")
        return default_stream_object()
    return accept_stream(given)


cdef object must_be_implemented(str name):
    raise TypeError(f"MemoryResource.{name} must be implemented by subclasses.")


cdef class MemoryResource:
    """Gives out memory as `Buffer` objects and takes it back.

    A subclass implements `allocate`, `deallocate`, `is_device_accessible`, `is_host_accessible` and
    `device_id`. What is left out raises TypeError when it is used. A resource stays alive as long
    as any buffer that it gave out.
    """

    def allocate(self, size, *, stream):
        """Give out memory.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            The stream on which the memory may be used from here on.

        Returns
        -------
        Buffer
            Made with ``Buffer.from_handle(ptr, size, mr=self)``.
        """
        must_be_implemented("allocate")

    def deallocate(self, ptr, size, *, stream):
        """Take memory back. It must not raise.

        Parameters
        ----------
        ptr : int
            The address that `allocate` gave.
        size : int
            In bytes.
        stream : Stream
            The stream that orders the free after the last use.
        """
        must_be_implemented("deallocate")

    @property
    def is_device_accessible(self):
        """Whether kernels may use the memory. Host only."""
        must_be_implemented("is_device_accessible")

    @property
    def is_host_accessible(self):
        """Whether the host may use the memory. Host only."""
        must_be_implemented("is_host_accessible")

    @property
    def device_id(self):
        """The ordinal of the device that the memory belongs to; -1 for none. Host only."""
        must_be_implemented("device_id")

    @property
    def is_managed(self):
        """Whether the memory moves between host and device by itself. Host only."""
        return False

    def _repr_html_(self):
        """The table that a notebook shows of `statistics`, or of the pool. Host only."""
        return import_module("cuda.core._utils.display").resource_html(self)


cdef int require_memory_resource(object given) except -1:
    """Refuse what is neither a `MemoryResource` nor declares to be as good as one."""
    if not (isinstance(given, MemoryResource)
            or getattr(given, "__cuda_core_memory_resource__", False)):
        raise TypeError(f"Expected type MemoryResource, got {qualified_name(given)}")
    return 0
