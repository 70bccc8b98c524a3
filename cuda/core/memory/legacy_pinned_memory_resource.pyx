# SPDX-License-Identifier: Apache-2.0
# LegacyPinnedMemoryResource: page-locked host memory without a pool.


cdef class LegacyPinnedMemoryResource(MemoryResource):
    """Page-locked host memory, which host and device use at the same address.

    It is usable at once and freed at once: closing a buffer first waits for the stream given.
    Allocating needs a current context.

    See Also
    --------
    cuMemAllocHost, cuMemFreeHost : the driver functions.
    """

    def allocate(self, size, stream=None):
        """Take memory, usable at once.

        Blocks the host.

        Parameters
        ----------
        size : int
            In bytes; 0 gives a buffer without an address.
        stream : Stream, optional
            Not needed; taken for the protocol's sake.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If the host cannot lock that much memory.
        TypeError
            If `stream` is given and is none.

        See Also
        --------
        cuMemAllocHost : the driver function.
        """
        cdef void* pointer = NULL
        cdef size_t wanted = size_from(size, "allocate(): size")
        if stream is not None:
            accept_stream(stream)
        cdef context_handle context = current_context()
        if wanted:
            with nogil:
                call(driver.cuMemAllocHost, &pointer, wanted)
        return wrap_resource_memory(self, <CUdeviceptr><uintptr_t>pointer, wanted,
                                    context)

    def deallocate(self, ptr, size_t size=0, stream=None):
        """Give memory back, after waiting for `stream` when one is given.

        Blocks the host. `ptr` is what was allocated, `size` is not needed.

        See Also
        --------
        cuMemFreeHost : the driver function.
        """
        free_now(address_from(ptr), memory_kind.host, stream, context_handle())

    @property
    def is_device_accessible(self):
        """True: kernels may use the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host may use the memory. Host only."""
        return True

    @property
    def device_id(self):
        """Raises RuntimeError: the memory belongs to no device. Host only."""
        raise RuntimeError("a pinned memory resource is not bound to any GPU")
